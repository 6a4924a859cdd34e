// Which plugins may make a link in the pod. The others change a link that is there, so its existence before an ADD says nothing about its owner.

/** Reference plugins, and the components with their names, that change a link of the pod and make none. */
const configuringTypes: ReadonlySet<string> = new Set(["bandwidth", "firewall", "loopback", "portmap", "sbr", "tuning"]);

/** Whether a network with plugins of these types may make a link in the pod. */
export function mayMakeLink(plugins: readonly { readonly type: string }[]): boolean {
  return plugins.some(({ type }) => !configuringTypes.has(type));
}
