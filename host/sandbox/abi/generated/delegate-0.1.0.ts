// Generated from wit/0.1.0/model.json by host/sandbox/abi/build.ts. Do not edit.

import type { Guest, ImportGlue, Outcome, VerbGlue } from "../guest.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface Fault {
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

export interface NetworkInterface {
  readonly name: string;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly sandbox?: string | undefined;
  readonly socketPath?: string | undefined;
  readonly pciId?: string | undefined;
}

export interface IpConfig {
  readonly address: string;
  readonly gateway?: string | undefined;
  readonly interface?: number | undefined;
}

export interface Route {
  readonly dst: string;
  readonly gw?: string | undefined;
  readonly mtu?: number | undefined;
  readonly advmss?: number | undefined;
  readonly priority?: number | undefined;
  readonly table?: number | undefined;
  readonly scope?: number | undefined;
}

export interface Dns {
  readonly nameservers: readonly string[];
  readonly domain?: string | undefined;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

export interface Success {
  readonly interfaces: readonly NetworkInterface[];
  readonly ips: readonly IpConfig[];
  readonly routes: readonly Route[];
  readonly dns?: Dns | undefined;
}

export interface Arg {
  readonly key: string;
  readonly value: string;
}

export interface Attachment {
  readonly containerId: string;
  readonly netns?: string | undefined;
  readonly ifname: string;
  readonly args: readonly Arg[];
}

export interface Network {
  readonly cniVersion: string;
  readonly name: string;
  readonly config: string;
}

export interface AttachmentRequest {
  readonly network: Network;
  readonly attachment: Attachment;
  readonly prevResult?: Success | undefined;
}

export interface AttachmentId {
  readonly containerId: string;
  readonly ifname: string;
}

export interface GcRequest {
  readonly network: Network;
  readonly valid: readonly AttachmentId[];
}

export interface LeasesAddressRange {
  readonly first: string;
  readonly last: string;
}

export interface LeasesPool {
  readonly directory?: string | undefined;
  readonly set: number;
}

export interface LeasesReservation {
  readonly address: string;
  readonly heldBefore: boolean;
}

/** Capability `log`. */
export interface LogCapability {
  write(level: LogLevel, message: string): void;
}

/** Capability `leases`. */
export interface LeasesCapability {
  reserve(pool: LeasesPool, address: string, owner: AttachmentId): Outcome<boolean, Fault>;
  reserveNext(pool: LeasesPool, ranges: readonly LeasesAddressRange[], skip: readonly string[], owner: AttachmentId): Outcome<LeasesReservation | undefined, Fault>;
  held(pool: LeasesPool, owner: AttachmentId): Outcome<readonly string[], Fault>;
  release(pool: LeasesPool, owner: AttachmentId): Outcome<number, Fault>;
  retain(pool: LeasesPool, valid: readonly AttachmentId[]): Outcome<number, Fault>;
  count(pool: LeasesPool, ranges: readonly LeasesAddressRange[], limit: number): Outcome<number, Fault>;
  probe(pool: LeasesPool): Outcome<undefined, Fault>;
}

/** Capability `resolver`. */
export interface ResolverCapability {
  read(path: string): Outcome<Dns, Fault>;
}

/** Every capability of this ABI version. */
export interface Capabilities {
  readonly log: LogCapability;
  readonly leases: LeasesCapability;
  readonly resolver: ResolverCapability;
}

/** What each verb takes and answers. */
export interface VerbTypes {
  readonly add: { readonly request: AttachmentRequest; readonly success: Success; readonly failure: Fault };
  readonly del: { readonly request: AttachmentRequest; readonly success: undefined; readonly failure: Fault };
  readonly check: { readonly request: AttachmentRequest; readonly success: undefined; readonly failure: Fault };
  readonly gc: { readonly request: GcRequest; readonly success: undefined; readonly failure: Fault };
  readonly status: { readonly request: Network; readonly success: undefined; readonly failure: Fault };
}

const labelsOfLogLevel = ["debug","info","warn","error"] as const;

function liftLogLevel(g: Guest, value: number): LogLevel {
  return g.label(labelsOfLogLevel, value);
}

function loadFault(g: Guest, at: number): Fault {
  return {
    code: g.u32(at),
    msg: g.loadString(at + 4),
    details: (g.discriminant(at + 12, 1, 2) === 0 ? undefined : g.loadString(at + 12 + 4)),
  };
}

function storeFault(g: Guest, at: number, value: Fault): void {
  g.storeU32(at, value.code);
  g.storeString(at + 4, value.msg);
  if (value.details === undefined) g.storeU8(at + 12, 0); else { g.storeU8(at + 12, 1); g.storeString(at + 12 + 4, value.details); }
}

function loadNetworkInterface(g: Guest, at: number): NetworkInterface {
  return {
    name: g.loadString(at),
    mac: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
    sandbox: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.loadString(at + 28 + 4)),
    socketPath: (g.discriminant(at + 40, 1, 2) === 0 ? undefined : g.loadString(at + 40 + 4)),
    pciId: (g.discriminant(at + 52, 1, 2) === 0 ? undefined : g.loadString(at + 52 + 4)),
  };
}

function storeNetworkInterface(g: Guest, at: number, value: NetworkInterface): void {
  g.storeString(at, value.name);
  if (value.mac === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.mac); }
  if (value.mtu === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeU32(at + 20 + 4, value.mtu); }
  if (value.sandbox === undefined) g.storeU8(at + 28, 0); else { g.storeU8(at + 28, 1); g.storeString(at + 28 + 4, value.sandbox); }
  if (value.socketPath === undefined) g.storeU8(at + 40, 0); else { g.storeU8(at + 40, 1); g.storeString(at + 40 + 4, value.socketPath); }
  if (value.pciId === undefined) g.storeU8(at + 52, 0); else { g.storeU8(at + 52, 1); g.storeString(at + 52 + 4, value.pciId); }
}

function loadIpConfig(g: Guest, at: number): IpConfig {
  return {
    address: g.loadString(at),
    gateway: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    interface: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.s32(at + 20 + 4)),
  };
}

function storeIpConfig(g: Guest, at: number, value: IpConfig): void {
  g.storeString(at, value.address);
  if (value.gateway === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gateway); }
  if (value.interface === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeS32(at + 20 + 4, value.interface); }
}

function loadRoute(g: Guest, at: number): Route {
  return {
    dst: g.loadString(at),
    gw: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    mtu: (g.discriminant(at + 20, 1, 2) === 0 ? undefined : g.u32(at + 20 + 4)),
    advmss: (g.discriminant(at + 28, 1, 2) === 0 ? undefined : g.u32(at + 28 + 4)),
    priority: (g.discriminant(at + 36, 1, 2) === 0 ? undefined : g.u32(at + 36 + 4)),
    table: (g.discriminant(at + 44, 1, 2) === 0 ? undefined : g.u32(at + 44 + 4)),
    scope: (g.discriminant(at + 52, 1, 2) === 0 ? undefined : g.u32(at + 52 + 4)),
  };
}

function storeRoute(g: Guest, at: number, value: Route): void {
  g.storeString(at, value.dst);
  if (value.gw === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.gw); }
  if (value.mtu === undefined) g.storeU8(at + 20, 0); else { g.storeU8(at + 20, 1); g.storeU32(at + 20 + 4, value.mtu); }
  if (value.advmss === undefined) g.storeU8(at + 28, 0); else { g.storeU8(at + 28, 1); g.storeU32(at + 28 + 4, value.advmss); }
  if (value.priority === undefined) g.storeU8(at + 36, 0); else { g.storeU8(at + 36, 1); g.storeU32(at + 36 + 4, value.priority); }
  if (value.table === undefined) g.storeU8(at + 44, 0); else { g.storeU8(at + 44, 1); g.storeU32(at + 44 + 4, value.table); }
  if (value.scope === undefined) g.storeU8(at + 52, 0); else { g.storeU8(at + 52, 1); g.storeU32(at + 52 + 4, value.scope); }
}

function loadDns(g: Guest, at: number): Dns {
  return {
    nameservers: g.loadList(at, 8, 4, (_, e) => g.loadString(e)),
    domain: (g.discriminant(at + 8, 1, 2) === 0 ? undefined : g.loadString(at + 8 + 4)),
    search: g.loadList(at + 20, 8, 4, (_, e) => g.loadString(e)),
    options: g.loadList(at + 28, 8, 4, (_, e) => g.loadString(e)),
  };
}

function storeDns(g: Guest, at: number, value: Dns): void {
  g.storeList(at, value.nameservers, 8, 4, (e, v) => { g.storeString(e, v); });
  if (value.domain === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.domain); }
  g.storeList(at + 20, value.search, 8, 4, (e, v) => { g.storeString(e, v); });
  g.storeList(at + 28, value.options, 8, 4, (e, v) => { g.storeString(e, v); });
}

function loadSuccess(g: Guest, at: number): Success {
  return {
    interfaces: g.loadList(at, 64, 4, loadNetworkInterface),
    ips: g.loadList(at + 8, 28, 4, loadIpConfig),
    routes: g.loadList(at + 16, 60, 4, loadRoute),
    dns: (g.discriminant(at + 24, 1, 2) === 0 ? undefined : loadDns(g, at + 24 + 4)),
  };
}

function storeSuccess(g: Guest, at: number, value: Success): void {
  g.storeList(at, value.interfaces, 64, 4, (e, v) => { storeNetworkInterface(g, e, v); });
  g.storeList(at + 8, value.ips, 28, 4, (e, v) => { storeIpConfig(g, e, v); });
  g.storeList(at + 16, value.routes, 60, 4, (e, v) => { storeRoute(g, e, v); });
  if (value.dns === undefined) g.storeU8(at + 24, 0); else { g.storeU8(at + 24, 1); storeDns(g, at + 24 + 4, value.dns); }
}

function storeArg(g: Guest, at: number, value: Arg): void {
  g.storeString(at, value.key);
  g.storeString(at + 8, value.value);
}

function storeAttachment(g: Guest, at: number, value: Attachment): void {
  g.storeString(at, value.containerId);
  if (value.netns === undefined) g.storeU8(at + 8, 0); else { g.storeU8(at + 8, 1); g.storeString(at + 8 + 4, value.netns); }
  g.storeString(at + 20, value.ifname);
  g.storeList(at + 28, value.args, 16, 4, (e, v) => { storeArg(g, e, v); });
}

function storeNetwork(g: Guest, at: number, value: Network): void {
  g.storeString(at, value.cniVersion);
  g.storeString(at + 8, value.name);
  g.storeString(at + 16, value.config);
}

function storeAttachmentRequest(g: Guest, at: number, value: AttachmentRequest): void {
  storeNetwork(g, at, value.network);
  storeAttachment(g, at + 24, value.attachment);
  if (value.prevResult === undefined) g.storeU8(at + 60, 0); else { g.storeU8(at + 60, 1); storeSuccess(g, at + 60 + 4, value.prevResult); }
}

function loadAttachmentId(g: Guest, at: number): AttachmentId {
  return {
    containerId: g.loadString(at),
    ifname: g.loadString(at + 8),
  };
}

function storeAttachmentId(g: Guest, at: number, value: AttachmentId): void {
  g.storeString(at, value.containerId);
  g.storeString(at + 8, value.ifname);
}

function loadLeasesAddressRange(g: Guest, at: number): LeasesAddressRange {
  return {
    first: g.loadString(at),
    last: g.loadString(at + 8),
  };
}

function storeLeasesReservation(g: Guest, at: number, value: LeasesReservation): void {
  g.storeString(at, value.address);
  g.storeBool(at + 8, value.heldBefore);
}

/** Glue of the functions that a delegate may import, by interface and function. */
export const imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>> = {
  "log": {
    "write": {
      host: "write",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number) => [liftLogLevel(g, p0), g.liftString(p1, p2)],
    },
  },
  "leases": {
    "reserve": {
      host: "reserve",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftString(p4, p5), { containerId: g.liftString(p6, p7), ifname: g.liftString(p8, p9) }],
      lower(g: Guest, value: Outcome<boolean, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeBool(at + 4, value.ok); }
      },
    },
    "reserve-next": {
      host: "reserveNext",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number, p8: number, p9: number, p10: number, p11: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadLeasesAddressRange), g.liftList(p6, p7, 8, 4, (_, e) => g.loadString(e)), { containerId: g.liftString(p8, p9), ifname: g.liftString(p10, p11) }],
      lower(g: Guest, value: Outcome<LeasesReservation | undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); if (value.ok === undefined) g.storeU8(at + 4, 0); else { g.storeU8(at + 4, 1); storeLeasesReservation(g, at + 4 + 4, value.ok); } }
      },
    },
    "held": {
      host: "held",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, { containerId: g.liftString(p4, p5), ifname: g.liftString(p6, p7) }],
      lower(g: Guest, value: Outcome<readonly string[], Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeList(at + 4, value.ok, 8, 4, (e, v) => { g.storeString(e, v); }); }
      },
    },
    "release": {
      host: "release",
      core: "i32,i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number, p7: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, { containerId: g.liftString(p4, p5), ifname: g.liftString(p6, p7) }],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "retain": {
      host: "retain",
      core: "i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadAttachmentId)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "count": {
      host: "count",
      core: "i32,i32,i32,i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number, p4: number, p5: number, p6: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }, g.liftList(p4, p5, 16, 4, loadLeasesAddressRange), g.liftU32(p6)],
      lower(g: Guest, value: Outcome<number, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); g.storeU32(at + 4, value.ok); }
      },
    },
    "probe": {
      host: "probe",
      core: "i32,i32,i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number, p2: number, p3: number) => [{ directory: (g.liftCase(p0, 2) === 0 ? undefined : g.liftString(p1, p2)), set: g.liftU32(p3) }],
      lower(g: Guest, value: Outcome<undefined, Fault>, at: number): void {
        g.range(at, 28, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0);  }
      },
    },
  },
  "resolver": {
    "read": {
      host: "read",
      core: "i32,i32,i32>",
      lift: (g: Guest, p0: number, p1: number) => [g.liftString(p0, p1)],
      lower(g: Guest, value: Outcome<Dns, Fault>, at: number): void {
        g.range(at, 40, 4);
        if ("err" in value) { g.storeU8(at, 1); storeFault(g, at + 4, value.err); } else { g.storeU8(at, 0); storeDns(g, at + 4, value.ok); }
      },
    },
  },
};

/** Glue of the functions that a delegate exports. */
export const verbs = {
  add: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(128, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<Success, Fault> {
      g.range(at, 68, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: loadSuccess(g, at + 4) } : { err: loadFault(g, at + 4) });
    },
  },
  del: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(128, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  check: {
    core: "i32>i32",
    lower(g: Guest, request: AttachmentRequest): number[] {
      const at = g.alloc(128, 4);
      storeAttachmentRequest(g, at, request);
      return [at];
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  gc: {
    core: "i32,i32,i32,i32,i32,i32,i32,i32>i32",
    lower(g: Guest, request: GcRequest): number[] {
      const out: number[] = [];
      g.lowerString(request.network.cniVersion, out);
    g.lowerString(request.network.name, out);
    g.lowerString(request.network.config, out);
    g.lowerList(request.valid, 16, 4, out, (e, v) => { storeAttachmentId(g, e, v); });
      return out;
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
  status: {
    core: "i32,i32,i32,i32,i32,i32>i32",
    lower(g: Guest, request: Network): number[] {
      const out: number[] = [];
      g.lowerString(request.cniVersion, out);
    g.lowerString(request.name, out);
    g.lowerString(request.config, out);
      return out;
    },
    lift(g: Guest, at: number): Outcome<undefined, Fault> {
      g.range(at, 28, 4);
      return (g.discriminant(at, 1, 2) === 0 ? { ok: undefined } : { err: loadFault(g, at + 4) });
    },
  },
} as const satisfies Readonly<Record<string, VerbGlue>>;
