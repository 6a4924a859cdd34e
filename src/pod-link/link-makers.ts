// The plugins that may make a link in the pod. The others change a link that is there, so its existence before an ADD says nothing about its owner.

import type { ShownLink } from "./link-identity.ts";

/** Reference plugins, and the components with their names, that change a link of the pod and make none. */
const configuringTypes: ReadonlySet<string> = new Set(["bandwidth", "firewall", "loopback", "portmap", "sbr", "tuning"]);

/** Whether a network with plugins of these types may make a link in the pod. */
export function mayMakeLink(plugins: readonly { readonly type: string }[]): boolean {
  return plugins.some(({ type }) => !configuringTypes.has(type));
}

/** Native plugins whose DEL moves the link with the attachment's name to the node, whatever link that is. */
const movingTypes: ReadonlySet<string> = new Set(["host-device", "sriov", "ib-sriov", "ib-sriov-cni"]);

/**
 * Whether the DEL of a failed ADD could move a link to the node that a running pod has made. A pod makes links of a kind only; hardware has none.
 * `named`: the link with the attachment's name.
 */
export function wouldMoveForeign(
  plugins: readonly { readonly type: string }[],
  named: Pick<ShownLink, "kind"> | undefined,
): boolean {
  return named !== undefined && named.kind !== "" && plugins.some(({ type }) => movingTypes.has(type));
}
