// The capability `announce` for vectors: neighbours by address, and a record of announcements and probes.

import type { Verb } from "../../../src/cni/environment.ts";
import { formatAddress, readAddress } from "../../../src/net/ip.ts";
import { boundsMistake } from "../../../host/capabilities/announce/probe.ts";
import type { AnnounceCapability, Fault } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

/** The neighbours of the attachment's interface. */
export interface Neighbourhood {
  /** MACs by address, as the kernel writes both. */
  readonly neighbours: Readonly<Record<string, string>>;
  /** All probes fail with it. */
  readonly fault?: Fault | undefined;
}

/** One probe of the delegate. */
export interface Probe {
  readonly addresses: readonly string[];
  readonly probes: number;
  readonly milliseconds: number;
}

/** The announcements and probes of one call. */
export class MemoryAnnounce {
  readonly #around: Neighbourhood;
  readonly #verb: Verb;
  readonly #announced: (readonly string[])[] = [];
  readonly #probed: Probe[] = [];

  constructor(around: Neighbourhood = { neighbours: {} }, verb: Verb = "ADD") {
    this.#around = around;
    this.#verb = verb;
  }

  /** The addresses of each announcement, in order. */
  announced(): readonly (readonly string[])[] {
    return this.#announced;
  }

  /** The probes, in order. */
  probed(): readonly Probe[] {
    return this.#probed;
  }

  readonly functions: AnnounceCapability = {
    send: (addresses) => {
      this.#announced.push(addresses);
      return { ok: undefined };
    },
    probe: (addresses, probes, milliseconds) => {
      const mistake = this.#mistake(addresses, { probes, milliseconds });
      if (mistake !== undefined) return { err: { code: 999, msg: `announce: ${mistake}` } };
      this.#probed.push({ addresses, probes, milliseconds });
      if (this.#around.fault !== undefined) return { err: this.#around.fault };
      const known = [...new Set(addresses.map(canonical))];
      return {
        ok: known.flatMap((address) => {
          const mac = this.#around.neighbours[address];
          return mac === undefined ? [] : [{ address, mac }];
        }),
      };
    },
  };

  #mistake(addresses: readonly string[], bounds: Parameters<typeof boundsMistake>[0]): string | undefined {
    if (this.#verb !== "ADD") return `only an ADD may probe addresses, this call is ${this.#verb}`;
    const malformed = addresses.find((text) => readAddress(text) === undefined);
    return malformed === undefined ? boundsMistake(bounds) : `${JSON.stringify(malformed)} is not an IP address`;
  }
}

function canonical(text: string): string {
  const address = readAddress(text);
  return address === undefined ? text : formatAddress(address);
}
