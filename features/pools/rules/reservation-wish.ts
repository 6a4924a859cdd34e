// Whether an attachment's address outlives its pod: by an IPAMClaim (NPWG 1.3, section 8), or by the name of a StatefulSet's pod (`ipam.keep`).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { foldedKey } from "../../../src/json/folded-key.ts";
import { quote } from "../../../src/json/quote.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";

/** The request for a static address in the configuration of one attachment. */
export interface ReservationWish {
  /** The name of an IPAMClaim in the pod's namespace. */
  readonly claim: string | undefined;
  /** Whether pods of StatefulSets keep their addresses. Other pods get an address of a block. */
  readonly keepsOrdinal: boolean;
}

const claimKey = "ipam-claim-reference";

/** Reads the wish. Fault CONFIG_INVALID. */
export function readWish(configuration: Readonly<Record<string, unknown>>): Result<ReservationWish> {
  const args = member(configuration, "args");
  const references = [member(args, "cni"), member(configuration, "runtimeConfig")].map((each) => each[claimKey]);
  const claim = references.find((each) => each !== undefined && each !== null && each !== "");
  if (claim !== undefined) {
    const problem = typeof claim === "string" ? subdomainProblem(claim) : `is ${describeJson(claim)}`;
    if (typeof claim !== "string" || problem !== undefined) {
      const shown = typeof claim === "string" ? ` ${quote(claim, 60)}` : "";
      return failed(fault("CONFIG_INVALID", `${claimKey}${shown} ${problem}`));
    }
  }
  const ipam = Object.entries(configuration).find(([key]) => foldedKey(key) === "ipam")?.[1];
  const keep = isJsonObject(ipam) ? Object.entries(ipam).find(([key]) => foldedKey(key) === "keep")?.[1] : undefined;
  if (keep !== undefined && keep !== "ordinal") {
    const shown = typeof keep === "string" ? quote(keep, 60) : describeJson(keep);
    return failed(fault("CONFIG_INVALID", `ipam.keep must be "ordinal", but is ${shown}`));
  }
  return ok({ claim: typeof claim === "string" ? claim : undefined, keepsOrdinal: keep === "ordinal" });
}

function member(object: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}
