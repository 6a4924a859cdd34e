// Remembers the conflicts that a probe finds. Only addresses that a delegated plugin gave in this call count: a delegate cannot keep others from
// an address by asking for it, and the gateway that answers is no conflict.

import { formatAddress, readCidr } from "../../../src/net/ip.ts";
import type { CallFacts } from "../call-facts.ts";
import type { CapabilityHost } from "../delegate-host.ts";
import type { Step } from "../step.ts";
import type { AnnounceImports } from "./scope.ts";

/** The capability, with each conflict of a delegated address noted and reported. */
export function remembering(
  announce: AnnounceImports,
  { taken, log }: Pick<CapabilityHost, "taken" | "log">,
  { network, onConflict, step }: Pick<Step, "network" | "onConflict" | "step">,
  facts: Pick<CallFacts, "delegatedAddresses">,
): AnnounceImports {
  return {
    ...announce,
    probe: async (addresses, probes, milliseconds) => {
      const answer = await announce.probe(addresses, probes, milliseconds);
      if (!("ok" in answer)) return answer;
      const given = new Set(facts.delegatedAddresses.map(withoutPrefix));
      for (const conflict of answer.ok) {
        if (!given.has(conflict.address)) continue;
        const noted = taken?.note(network, conflict.address, conflict.mac);
        if (noted?.ok === false) log(step.plugin.type, "warn", `announce: ${noted.fault.msg}`);
        onConflict?.(conflict);
      }
      return answer;
    },
  };
}

function withoutPrefix(text: string): string {
  const cidr = readCidr(text);
  return cidr === undefined ? text : formatAddress(cidr.address);
}
