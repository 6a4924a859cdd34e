// The scope of one call of `links`: its verb, its attachment, and the grant of its delegate.

import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { type Denied, notGranted } from "../../../src/configuration/not-granted.ts";
import type { LinkGrant } from "../../../src/configuration/keys/grant-keys.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import { quote } from "../../../src/json/quote.ts";
import { misuseOf } from "../outcome.ts";
import type { DeviceStore } from "./devices/device-store.ts";
import type { Sysfs } from "./devices/sysfs.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";

/** The scope of one call of `links`. */
export interface LinkScope {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly grant: LinkGrant;
  readonly verb: Verb;
  /** Undefined for verbs without an attachment (GC, STATUS). */
  readonly attachment: PodSide | undefined;
  /** Undefined: no device can be taken. */
  readonly devices?: DeviceScope | undefined;
  /** The alternative names that the delegate has used; undefined: none is known. */
  readonly aliases?: { readonly realOf: (name: string) => string } | undefined;
}

/** The devices that attachments of this node have. */
export interface DeviceScope {
  readonly network: string;
  /** Empty for verbs without an attachment. */
  readonly containerId: string;
  readonly store: DeviceStore;
  readonly sysfs: Sysfs;
}

/** The pod's end of the attachment. */
export interface PodSide {
  readonly ifname: string;
  /** Path of the pod's network namespace (CNI_NETNS); empty where it does not exist. */
  readonly netns: string;
  /** In a DEL: the pod's links that the ADD made; the DEL may remove no other link. Undefined: unknown, so that names decide. */
  readonly ownLinks?: readonly LinkIdentity[] | undefined;
}

/** The role in which a delegate uses a link of the node. */
export type Role =
  /** A granted bridge (`links.bridges`). */
  | "bridge"
  /** The gateway of a VLAN of a granted bridge, named `<bridge>.<id>`: a veth whose other end is the bridge's port. */
  | "gateway"
  /** The node's end of the attachment's veth. It needs no grant. */
  | "attachment"
  /** A link that may become a port of a granted bridge, and whose VLANs may change while it is one (`links.uplinks`). */
  | "uplink"
  /** A link that may be the lower link of the pod's macvlans, ipvlans and VLANs (`links.parents`). */
  | "parent";

/** A key of `wasm.grants.TYPE.links`. */
export type GrantKey =
  | "bridges"
  | "parents"
  | "uplinks"
  | "networks"
  | "podNetworks"
  | "nodeAddresses"
  | "replaceAddresses"
  | "podLinks"
  | "devices"
  | "vfVlans"
  | "vfTrust"
  | "selinuxContexts"
  | "forwarding";

/** The name of a VLAN gateway: `<bridge>.<id>`. */
export const GATEWAY = /^(.+)\.(\d{1,4})$/u;

/** Whether a pattern of the list matches the name. */
export function isListed(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns?.some((pattern) => matchesPattern(pattern, name)) ?? false;
}

/** The roles that the grant gives to a name on the node, regardless of the link's kind. Never `attachment`: that role does not depend on the name. */
export function rolesByName({ grant, aliases }: LinkScope, usedName: string): ReadonlySet<Role> {
  const name = aliases?.realOf(usedName) ?? usedName;
  const bridge = GATEWAY.exec(name)?.[1];
  const roles: (Role | false)[] = [
    isListed(grant.bridges, name) && "bridge",
    bridge !== undefined && isListed(grant.bridges, bridge) && "gateway",
    isListed(grant.uplinks, name) && "uplink",
    isListed(grant.parents, name) && "parent",
  ];
  return new Set(roles.filter((role) => role !== false));
}

/** Whether the delegate may make a link of this name in the pod. */
export function mayBeMadeInPod({ grant, attachment }: LinkScope, name: string): boolean {
  return name !== "lo" && (name === attachment?.ifname || isListed(grant.podLinks, name));
}

/** Fault: NOT_GRANTED. `key`: the key of the grant that would allow the request. */
export function denied(scope: LinkScope, key: GrantKey, request: string): Fault {
  const value = scope.grant[key];
  const granted = typeof value === "boolean" ? (value ? ["true"] : []) : (value ?? []);
  return notGranted({ type: scope.type, key: `links.${key}`, request: `links: ${request}`, granted } satisfies Denied);
}

/** Fault: CAPABILITY_MISUSED, for a request that the contract of `links` forbids. */
export const misused = misuseOf("links");

/** A link of the node for messages, with its own name if the delegate used an alternative one. */
export function nodeLinkText({ aliases }: LinkScope, name: string): string {
  const real = aliases?.realOf(name) ?? name;
  return real === name ? linkText("host", name) : `${linkText("host", name)} (an alternative name of ${quote(real, 40)})`;
}

/** A link for messages, its name quoted: `link "eth0" of the pod`. */
export function linkText(place: LinksPlace, name: string): string {
  return place === "host" ? `link ${quote(name, 40)} of the node` : `link ${quote(name, 40)} of the pod`;
}

/** An operation for messages, counted from 0: `operation 1 (add-route)`. */
export function operationText(number: number, tag: string): string {
  return `operation ${number} (${tag})`;
}
