// The ABI's records in the form of JavaScript hosts: camel-case names, absent options undefined.

import type { Verb } from "../../../src/cni/environment.ts";
import type {
  AnnounceCapability,
  DhcpCapability,
  DelegationCapability,
  FilterCapability,
  FirewallCapability,
  FlowsCapability,
  LeasesCapability,
  LinksCapability,
  OvsCapability,
  RoutingCapability,
  ShapingCapability,
  StateCapability,
  SysctlCapability,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

/** The record `fault` of the WIT. */
export interface FaultRecord {
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

/** The record `dns` of the WIT. */
export interface DnsRecord {
  readonly nameservers: readonly string[];
  readonly domain?: string | undefined;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** The record `success` of the WIT. */
export interface SuccessRecord {
  readonly interfaces: readonly {
    readonly name: string;
    readonly mac?: string | undefined;
    readonly mtu?: number | undefined;
    readonly sandbox?: string | undefined;
    readonly socketPath?: string | undefined;
    readonly pciId?: string | undefined;
  }[];
  readonly ips: readonly {
    readonly address: string;
    readonly gateway?: string | undefined;
    readonly interface?: number | undefined;
  }[];
  readonly routes: readonly {
    readonly dst: string;
    readonly gw?: string | undefined;
    readonly mtu?: number | undefined;
    readonly advmss?: number | undefined;
    readonly priority?: number | undefined;
    readonly table?: number | undefined;
    readonly scope?: number | undefined;
  }[];
  readonly dns?: DnsRecord | undefined;
}

/** The record `network` of the WIT. */
export interface NetworkRecord {
  readonly cniVersion: string;
  readonly name: string;
  readonly config: string;
}

/** The record `attachment-id` of the WIT. */
export interface AttachmentIdRecord {
  readonly containerId: string;
  readonly ifname: string;
}

/** The record `call` of the WIT. */
export interface CallRecord {
  readonly remainingMs: number;
  readonly granted: readonly string[];
}

/** The record `attachment-request` of the WIT. */
export interface AttachmentRequestRecord {
  readonly call: CallRecord;
  readonly network: NetworkRecord;
  readonly attachment: AttachmentIdRecord & {
    readonly netns?: string | undefined;
    readonly args: readonly { readonly key: string; readonly value: string }[];
    readonly pod?: { readonly namespace: string; readonly name: string; readonly uid?: string | undefined } | undefined;
  };
  readonly prevResult?: SuccessRecord | undefined;
}

/** The record `gc-request` of the WIT. */
export interface GcRequestRecord {
  readonly call: CallRecord;
  readonly network: NetworkRecord;
  readonly valid: readonly AttachmentIdRecord[];
}

/** The record `status-request` of the WIT. */
export interface StatusRequestRecord {
  readonly call: CallRecord;
  readonly network: NetworkRecord;
}

/** The record `pool` of the WIT. */
export interface PoolRecord {
  readonly directory?: string | undefined;
  readonly set: number;
}

/** A `result` of the WIT. */
export type Outcome<T> = { readonly ok: T } | { readonly err: FaultRecord };

/** The record `reservation` of the WIT. */
export interface ReservationRecord {
  readonly address: string;
  readonly heldBefore: boolean;
}

/** The capabilities of a call, as synchronous functions. */
export interface CapabilityFunctions {
  readonly log: { write(level: string, message: string): void };
  readonly leases: LeasesCapability;
  readonly resolver: { read(path: string): Outcome<DnsRecord> };
  readonly links?: LinksCapability;
  readonly delegation?: DelegationCapability;
  readonly sysctl?: SysctlCapability;
  readonly state?: StateCapability;
  readonly ovs?: OvsCapability;
  readonly announce?: AnnounceCapability;
  readonly dhcp?: DhcpCapability;
  readonly firewall?: FirewallCapability;
  readonly routing?: RoutingCapability;
  readonly shaping?: ShapingCapability;
  readonly filter?: FilterCapability;
  readonly flows?: FlowsCapability;
}

/** A verb with its request. */
export type DelegateCall =
  | { readonly verb: "add" | "del" | "check"; readonly request: AttachmentRequestRecord }
  | { readonly verb: "gc"; readonly request: GcRequestRecord }
  | { readonly verb: "status"; readonly request: StatusRequestRecord };

/** A call's verb, as the host's capabilities spell it. */
export function cniVerb(verb: DelegateCall["verb"]): Verb {
  return ({ add: "ADD", del: "DEL", check: "CHECK", gc: "GC", status: "STATUS" } as const)[verb];
}

/** Calls one verb of a component on a fresh instance. A trap rejects. */
export type RunDelegate = (
  component: Uint8Array,
  call: DelegateCall,
  capabilities: CapabilityFunctions,
) => Promise<Outcome<SuccessRecord | undefined>>;
