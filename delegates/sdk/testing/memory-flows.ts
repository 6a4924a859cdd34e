// The `flows` capability in memory: a vector sets the flows before the call and shows those that are left after it.

import { allowedAddresses, type FlowsCall } from "../../../host/capabilities/flows/requests.ts";
import { refuse } from "../../../host/capabilities/outcome.ts";
import type { Fault, FlowsCapability, FlowsPort } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { formatAddress, readAddress } from "../../../src/net/ip.ts";

/** A flow by its first packet. `server`: the end that answers, if another address or port than the destination. */
export interface Flow {
  readonly protocol: FlowsPort["protocol"];
  readonly source: FlowEnd;
  readonly destination: FlowEnd;
  readonly server?: FlowEnd | undefined;
}

/** An end of a flow. */
export interface FlowEnd {
  readonly address: string;
  readonly port: number;
}

/** A vector's state. */
export interface FlowsState {
  readonly entries?: readonly Flow[] | undefined;
  /** The fault of `forget`. */
  readonly fault?: Fault | undefined;
}

/** The flows of one call. */
export class MemoryFlows {
  readonly #call: FlowsCall;
  readonly #fault: Fault | undefined;
  #entries: readonly Flow[];

  constructor({ entries = [], fault }: FlowsState = {}, call: FlowsCall) {
    this.#call = call;
    this.#fault = fault;
    this.#entries = entries;
  }

  /** The flows that are left. */
  entries(): readonly Flow[] {
    return this.#entries;
  }

  readonly functions: FlowsCapability = {
    forget: (requested, ports) => {
      const addresses = allowedAddresses(this.#call, requested, ports);
      if (!addresses.ok) return refuse(addresses.fault);
      if (this.#fault !== undefined) return { err: this.#fault };
      const own = new Set(addresses.value.map(formatAddress));
      const isOwn = ({ protocol, source, destination, server }: Flow): boolean =>
        [source, destination, ...(server === undefined ? [] : [server])].some((end) => {
          const address = readAddress(end.address);
          if (address === undefined || !own.has(formatAddress(address))) return false;
          return ports.length === 0 || ports.some((port) => port.protocol === protocol && port.number === end.port);
        });
      const left = this.#entries.filter((flow) => !isOwn(flow));
      const count = this.#entries.length - left.length;
      this.#entries = left;
      return { ok: count };
    },
  };
}
