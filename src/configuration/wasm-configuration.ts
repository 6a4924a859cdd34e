// What an administrator lets sandboxed delegates do, and within which limits.

/** What one delegate may use. A capability that isn't here is refused when the delegate is loaded. */
export interface DelegateGrants {
  readonly log?: object | undefined;
  /** Directories that leases may be kept in; the first is the one for configurations that name none. */
  readonly leases?: { readonly directories?: readonly string[] | undefined } | undefined;
  /** Files in the format of resolv.conf that may be read. */
  readonly resolver?: { readonly files?: readonly string[] | undefined } | undefined;
  readonly links?: LinkGrant | undefined;
  /**
   * Keys below `net`, as paths (`net/ipv4/conf/IFNAME/rp_filter`): `IFNAME` stands for the attachment's interface, `*` for anything within a part of
   * the path. `allowlist`: a file of the reference tuning plugin's kind, which a key must match as well where it is there.
   */
  readonly sysctl?: { readonly keys?: readonly string[] | undefined; readonly allowlist?: string | undefined } | undefined;
  /** `hostPorts`: ranges such as `1024-65535` or single ports; no port mappings where there are none. */
  readonly firewall?:
    | { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined }
    | undefined;
  readonly announce?: object | undefined;
  /** Types of the plugins that may be called; `*` stands for anything. */
  readonly delegation?: { readonly plugins?: readonly string[] | undefined } | undefined;
  /** Directories that state may be kept in; the first is the one for configurations that name none. */
  readonly state?: { readonly directories?: readonly string[] | undefined } | undefined;
}

/** Links of the node that a delegate may use, by name; `*` stands for anything. The attachment's own links need no grant beyond `links`. */
export interface LinkGrant {
  /** Bridges that may be made, changed and given ports. */
  readonly bridges?: readonly string[] | undefined;
  /** Links that a macvlan, an ipvlan or a VLAN may lie on. They aren't changed, but a macvlan in passthru mode takes their frames and shares their MAC. */
  readonly parents?: readonly string[] | undefined;
  /** Links that may become ports of a granted bridge. */
  readonly uplinks?: readonly string[] | undefined;
  /**
   * Networks, as addresses with a prefix length, in which what the node's links get must lie: addresses with all of their network, neighbours, and
   * routes. Addresses may be of any where there is no list; the node gets no route then.
   */
  readonly networks?: readonly string[] | undefined;
  /** Further links that may be made in the pod's namespace. */
  readonly podLinks?: readonly string[] | undefined;
  /** Whether the node's forwarding of packets may be switched on. */
  readonly forwarding?: boolean | undefined;
  /** For how many queues each end of a veth has room; the kernel's own number (one for each CPU) where absent. One is all that a veth uses by itself. */
  readonly vethQueues?: number | undefined;
}

/** Limits of one call of a delegate; absent ones have the sandbox's defaults. None can be switched off. */
export interface DelegateLimits {
  /** Milliseconds of one call. */
  readonly timeMs?: number | undefined;
  /** Mebibytes of linear memory. */
  readonly memoryMiB?: number | undefined;
  /** Bytes of the request. */
  readonly inputBytes?: number | undefined;
  /** Bytes of the answer, aliased ones counted each time. */
  readonly outputBytes?: number | undefined;
  /** Bytes of log of one call. */
  readonly logBytes?: number | undefined;
}

export interface WasmConfiguration {
  /** True: a component wins over a native binary in the same directory; a list: for these types. */
  readonly prefer: boolean | readonly string[];
  /** Where a one-shot brain runs guests: in a sandbox process, or in its own. A resident brain has sandbox processes always. */
  readonly isolation: "process" | "in-process";
  readonly limits: DelegateLimits;
  /** By delegate's type; what is here replaces the default grants. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
  /** What the types have that `grants` doesn't list. */
  readonly otherGrants: DelegateGrants;
}

/** Directory of the reference host-local, which leases are kept in unless told otherwise. */
export const defaultLeaseDirectory = "/var/lib/cni/networks";

/** Directory of the reference tuning plugin, which state is kept in where a grant lists none. */
export const defaultStateDirectory = "/run/cni/tuning";

/** Files that a delegate may have read where the administrator lists none. */
export const defaultResolverFiles: readonly string[] = ["/etc/resolv.conf"];

/** What a delegate may use where the administrator said nothing: nothing that reaches the kernel. */
export const defaultGrants: DelegateGrants = {
  log: {},
  leases: { directories: [defaultLeaseDirectory] },
  resolver: { files: defaultResolverFiles },
};

/** Where the configuration has no `wasm`. */
export const defaultWasm: WasmConfiguration = {
  prefer: false,
  isolation: "in-process",
  limits: {},
  grants: {},
  otherGrants: defaultGrants,
};
