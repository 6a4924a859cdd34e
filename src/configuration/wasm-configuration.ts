// The administrator's grants and limits for sandboxed delegates.

/** The capabilities of one delegate. A component that imports a missing capability is refused when it is loaded. */
export interface DelegateGrants {
  readonly log?: object | undefined;
  readonly leases?: LeaseGrant | undefined;
  /** Files in the format of resolv.conf that a delegate may read. */
  readonly resolver?: { readonly files?: readonly string[] | undefined } | undefined;
  readonly links?: LinkGrant | undefined;
  /**
   * Keys below `net` as paths (`net/ipv4/conf/IFNAME/rp_filter`). `IFNAME` stands for the attachment's interface; `*` is a
   * wildcard within one part of the path. `allowlist`: an allow-list of the reference tuning plugin; if the file exists, a key
   * must match it too.
   */
  readonly sysctl?: { readonly keys?: readonly string[] | undefined; readonly allowlist?: string | undefined } | undefined;
  /** `hostPorts`: single ports or ranges such as `1024-65535`; without any, port mappings are refused. */
  readonly firewall?:
    | { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined }
    | undefined;
  readonly announce?: object | undefined;
  /** Types of the plugins that a delegate may call; `*` is a wildcard. */
  readonly delegation?: { readonly plugins?: readonly string[] | undefined } | undefined;
  /** Directories for state; the first is the default for configurations that name none. */
  readonly state?: { readonly directories?: readonly string[] | undefined } | undefined;
  readonly ovs?: OvsGrant | undefined;
  /**
   * Bounds the answer to ADD, and is no capability. `change`: the places of the result in which the answer may differ from `prevResult`
   * (src/cni/result-changes.ts). Without this list the answer may differ everywhere.
   */
  readonly result?: { readonly change?: readonly string[] | undefined } | undefined;
}

/** The names of the granted capabilities. */
export function grantedCapabilities(grants: DelegateGrants): string[] {
  return Object.keys(grants).filter((name) => name !== "result");
}

/** Properties that the component of a type must have in every network: all that are given. */
export interface ComponentDemand {
  /** Digest of the component's bytes. */
  readonly digest?: string;
  /** Name of the key in `keys` that signed the component's manifest. */
  readonly signedBy?: string;
}

/** Properties of which every component of the node must have one. With both lists empty no component meets the requirement. */
export interface ComponentRequirement {
  readonly anyOf: {
    /** Names of keys in `keys`. */
    readonly signedBy: readonly string[];
    /** Digests of components' bytes. */
    readonly digests: readonly string[];
  };
}

/**
 * The node's links that a delegate may use, by name; `*` is a wildcard. The attachment's own links need no grant beyond `links`.
 */
export interface LinkGrant {
  /** Bridges that a delegate may create, change and add ports to. */
  readonly bridges?: readonly string[] | undefined;
  /**
   * Parents of macvlans, ipvlans and VLANs. They are not changed, but a macvlan in passthru mode takes their frames and shares
   * their MAC.
   */
  readonly parents?: readonly string[] | undefined;
  /** Links that may become ports of a granted bridge. */
  readonly uplinks?: readonly string[] | undefined;
  /**
   * Networks (addresses with a prefix length) that must contain what the node's links get: addresses with their whole prefix,
   * neighbours, and routes. Without this list any address is allowed, and the node gets no route.
   */
  readonly networks?: readonly string[] | undefined;
  /**
   * Networks that must contain the addresses of the pod's links, with their whole prefix. Without this list a pod may get any address, also one
   * of another network on a granted bridge.
   */
  readonly podNetworks?: readonly string[] | undefined;
  /**
   * The addresses, each with its prefix length, that a delegate may add to the node's links or remove from them. Without this list
   * any address is allowed, within `networks`.
   */
  readonly nodeAddresses?: readonly string[] | undefined;
  /** Whether a delegate may replace an address of the node by another one (`forceAddress` of bridge); true unless it is set. */
  readonly replaceAddresses?: boolean | undefined;
  /** Further links that a delegate may create in the pod's network namespace. */
  readonly podLinks?: readonly string[] | undefined;
  /** Whether a delegate may switch on the node's IP forwarding. */
  readonly forwarding?: boolean | undefined;
  /**
   * Maximum number of queues of each end of a veth; if absent, the kernel's default (one for each CPU). A veth uses one queue
   * until ethtool -L sets more.
   */
  readonly vethQueues?: number | undefined;
}

/** The places of a delegate's leases. */
export interface LeaseGrant {
  /** Directories for leases; the first is the default for configurations that name none. */
  readonly directories?: readonly string[] | undefined;
  /** AddressPools of the cluster that a configuration may name in `ipam.pool`; `*` is a wildcard. */
  readonly pools?: readonly string[] | undefined;
}

/** The bridges of Open vSwitch that a delegate may add ports to. */
export interface OvsGrant {
  /** Names of bridges; `*` is a wildcard. Without any, every port is refused. */
  readonly bridges?: readonly string[] | undefined;
  /** Absolute path of OVSDB's Unix socket. */
  readonly socket?: string | undefined;
  /** Interface IDs that a delegate may use besides that of the attachment's external port; `*` is a wildcard. */
  readonly interfaceIds?: readonly string[] | undefined;
}

/** Limits of one call of a delegate; absent limits have the sandbox's defaults. No limit can be switched off. */
export interface DelegateLimits {
  /** Computing time of one call, in milliseconds. */
  readonly timeMs?: number | undefined;
  /** Linear memory, in mebibytes. */
  readonly memoryMiB?: number | undefined;
  /** Size of a component's file, in mebibytes. */
  readonly componentMiB?: number | undefined;
  /** Instances of a component's core modules. */
  readonly coreInstances?: number | undefined;
  /** Computing time of a component's admission, in milliseconds. */
  readonly admissionMs?: number | undefined;
  /** Size of the request, in bytes. */
  readonly inputBytes?: number | undefined;
  /** Size of the answer, in bytes; data that is referenced twice counts twice. */
  readonly outputBytes?: number | undefined;
  /** Log output of one call, in bytes. */
  readonly logBytes?: number | undefined;
}

/** The levels of isolation, the weakest first. */
export const isolations = ["in-process", "process", "strict"] as const;

/** See `isolations`. */
export type Isolation = (typeof isolations)[number];

/** A range of uids, and of gids with the same numbers. */
export interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** The uids of sandbox processes; `same`: they keep the engine's uid. */
export type SandboxUids = UidRange | "same";

/** The largest uid that a range may have: beyond it some programs read a negative number. */
export const maxUid = 2_147_483_646;

/**
 * The default range. A sandbox process gets the uid FIRST + (pid modulo COUNT). The count is the kernel's maximum of pids, so no two live
 * processes have the same uid.
 */
export const defaultUids: UidRange = { first: 2_000_000_000, count: 4_194_304 };

/** The section `wasm` with every default filled in. */
export interface WasmConfiguration {
  /** False: no component is examined or run. A step whose plugin is a component fails with WASM_DISABLED. */
  readonly enabled: boolean;
  /** True: a component takes precedence over a native binary in the same directory; a list: for these types. */
  readonly prefer: boolean | readonly string[];
  /**
   * Where components are examined and run: in sandbox processes, or in a one-shot engine's own process, with its rights. `strict`: in a sandbox process for each call, with every control
   * of its jail. A daemon always uses sandbox processes.
   */
  readonly isolation: Isolation;
  /** The uids of a one-shot engine's sandbox processes. A daemon has an option for them. */
  readonly sandboxUids: SandboxUids;
  readonly limits: DelegateLimits;
  /** Grants by the delegate's type; an entry replaces the default grants. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
  /** Grants of the types that `grants` does not list. */
  readonly otherGrants: DelegateGrants;
  /** Demands on components by type: `digest` and `signedBy` in `wasm.grants.TYPE`. They hold for definitions, too. */
  readonly demands: Readonly<Record<string, ComponentDemand>>;
  /** `wasm.require`: the demand on components of all types without an entry in `demands`; undefined if any component may run. */
  readonly require: ComponentRequirement | undefined;
  /** Types with `"require": false` among their grants. */
  readonly exempt: readonly string[];
  /** Public keys by name: a PEM text, or the absolute path of such a file. */
  readonly keys: Readonly<Record<string, string>>;
}

/** Lease directory of the reference host-local, which is the default. */
export const defaultLeaseDirectory = "/var/lib/cni/networks";

/** State directory of the reference tuning plugin, which is used if a grant lists none. */
export const defaultStateDirectory = "/run/cni/tuning";

/** Files that a delegate may read if the administrator lists none. */
export const defaultResolverFiles: readonly string[] = ["/etc/resolv.conf"];

/** OVSDB's socket on a node, which is used if a grant names none. */
export const defaultOvsSocket = "/run/openvswitch/db.sock";

/** Grants of a delegate that the configuration does not mention: nothing that changes the kernel's state. */
export const defaultGrants: DelegateGrants = {
  log: {},
  leases: { directories: [defaultLeaseDirectory] },
  resolver: { files: defaultResolverFiles },
};

/** The grants of a delegate's type. */
export function grantsOf(
  { grants, otherGrants }: Pick<WasmConfiguration, "grants" | "otherGrants">,
  type: string,
): DelegateGrants {
  return (Object.hasOwn(grants, type) ? grants[type] : undefined) ?? otherGrants;
}

/** The meaning of a configuration without `wasm`. */
export const defaultWasm: WasmConfiguration = {
  enabled: true,
  prefer: false,
  isolation: "process",
  sandboxUids: defaultUids,
  limits: {},
  grants: {},
  otherGrants: defaultGrants,
  demands: {},
  require: undefined,
  exempt: [],
  keys: {},
};
