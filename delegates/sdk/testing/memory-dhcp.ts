// The capability `dhcp` for vectors: the lease of one attachment, and a record of the requests for it.

import { requestMistake } from "../../../host/capabilities/dhcp/requests.ts";
import type {
  AttachmentId,
  DhcpCapability,
  DhcpLease,
  DhcpRequest,
  Fault,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

/** The server around the attachment. */
export interface DhcpAround {
  /** The lease that the server gives; absent: no server answers. */
  readonly offered?: DhcpLease | undefined;
  /** The lease that the attachment holds before the call. */
  readonly held?: DhcpLease | undefined;
  /** No lease can be had or renewed here. */
  readonly fault?: Fault | undefined;
}

/** The call that the capability is bound to. */
export interface DhcpCall {
  readonly verb: CallVerb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
}

type CallVerb = "add" | "del" | "check" | "gc" | "status";

/** The capability for one call. */
export class MemoryDhcp {
  readonly #around: DhcpAround;
  readonly #call: DhcpCall;
  readonly #requests: DhcpRequest[] = [];
  /** Leases by attachment; kept by the caller for several calls. */
  readonly #leases: Map<string, DhcpLease>;
  readonly #key: string;

  constructor(around: DhcpAround = {}, call: DhcpCall, leases: Map<string, DhcpLease> = new Map()) {
    this.#around = around;
    this.#call = call;
    this.#leases = leases;
    this.#key = call.attachment === undefined ? "" : keyOf(call.attachment);
    if (around.held !== undefined) leases.set(this.#key, around.held);
  }

  /** The requests so far, and the lease now. */
  state(): { readonly requests: readonly DhcpRequest[]; readonly held?: DhcpLease } {
    const held = this.#leases.get(this.#key);
    return { requests: this.#requests, ...(held === undefined ? {} : { held }) };
  }

  readonly functions: DhcpCapability = {
    acquire: (request) => {
      const { verb } = this.#call;
      const mistake =
        verb === "add" ? requestMistake(request) : `only an ADD may get a lease, this call is ${verb.toUpperCase()}`;
      if (mistake !== undefined) return misused(mistake);
      this.#requests.push(request);
      const { fault, offered } = this.#around;
      if (fault !== undefined) return { err: fault };
      const lease = this.#leases.get(this.#key) ?? offered;
      if (lease === undefined)
        return { err: { code: 11, msg: "dhcp: no DHCP server offers an address to the interface with MAC 0a:58:00:00:00:04" } };
      this.#leases.set(this.#key, lease);
      return { ok: lease };
    },
    held: () => ({ ok: this.#leases.get(this.#key) }),
    release: () => {
      const { verb } = this.#call;
      if (verb !== "add" && verb !== "del")
        return misused(`only ADD and DEL may release a lease, this call is ${verb.toUpperCase()}`);
      this.#leases.delete(this.#key);
      return { ok: undefined };
    },
    retain: (valid) => {
      const { verb } = this.#call;
      if (verb !== "gc") return misused(`only a GC may retain leases, this call is ${verb.toUpperCase()}`);
      const kept = new Set(valid.map(keyOf));
      const stale = [...this.#leases.keys()].filter((key) => !kept.has(key));
      for (const key of stale) this.#leases.delete(key);
      return { ok: stale.length };
    },
    probe: () => (this.#around.fault === undefined ? { ok: undefined } : { err: this.#around.fault }),
  };
}

function keyOf({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

function misused(why: string): { readonly err: Fault } {
  return { err: { code: 999, msg: `dhcp: ${why}` } };
}
