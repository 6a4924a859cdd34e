// The identity of a link in a pod's network namespace, and the plugins that make or move links there. A name is no identity: the pod may rename its links, and give the
// name to another link.

/** A link as its ADD left it. */
export interface LinkIdentity {
  /** The name after the ADD. */
  readonly name: string;
  /** The index, which the kernel gives to no other link of the namespace while the link lives. */
  readonly index: number;
  /** The link's kind: `veth`, `macvlan`, …; empty for hardware. */
  readonly kind: string;
  /** The hardware address; empty where the link has none. The pod may change it. */
  readonly mac: string;
  /** The index of a veth's other end, or of the lower link, in another namespace; absent where the link has none there. */
  readonly peer?: number;
  /** The name of the master of a veth's end on the node after the ADD, such as `ovs-system`; absent where it has none or links are not watched. */
  readonly nodeMaster?: string;
}

/** A link as the kernel shows it. */
export interface ShownLink {
  readonly index: number;
  readonly name: string;
  /** The kernel, and so a plugin, finds the link by these names, too. */
  readonly alternativeNames?: readonly string[];
  readonly kind: string;
  readonly mac: string;
  /** The index of a veth's other end, or of the lower link, in the namespace `linkNamespace`. */
  readonly link: number | undefined;
  /** The id of that namespace; undefined: the link's own. */
  readonly linkNamespace: number | undefined;
  /** The device of the link; undefined for a virtual link. */
  readonly parentDevice?: object | undefined;
}

/** The identity of a link. */
export function identityOf({ name, index, kind, mac, link, linkNamespace }: ShownLink): LinkIdentity {
  const peer = linkNamespace === undefined ? undefined : link;
  return { name, index, kind, mac, ...(peer === undefined ? {} : { peer }) };
}

/** Whether the kernel finds the link by this name. A namespace has one such link at most. */
export function hasName({ name, alternativeNames = [] }: ShownLink, wanted: string): boolean {
  return name === wanted || alternativeNames.includes(wanted);
}

/** Whether a link of the same namespace is the identified one. Its name and its hardware address may have changed. */
export function isSameLink({ index, kind }: LinkIdentity, link: ShownLink): boolean {
  return link.index === index && link.kind === kind;
}

/**
 * Whether a link shows that its namespace is the identified link's. Both ends of a veth have their indexes, and an upper link that of its lower one;
 * other links are told apart by their hardware addresses.
 */
export function showsSameNamespace(identity: LinkIdentity, link: ShownLink): boolean {
  if (!isSameLink(identity, link)) return false;
  if (identity.peer !== undefined) return link.linkNamespace !== undefined && link.link === identity.peer;
  return identity.mac !== "" && identity.mac === link.mac;
}

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
