// CNI_ARGS: `K=V;K2=V2`, without any escaping (CNI 1.1.0 section 2, L-09, L-61).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";

/** One pair of CNI_ARGS. */
export type CniArg = readonly [key: string, value: string];

/** Splits CNI_ARGS at `;`. Each pair needs exactly one `=`; empty text has no pairs. Fault: ENVIRONMENT_INVALID (4). */
export function parseCniArgs(text: string): Result<readonly CniArg[]> {
  if (text === "") return ok([]);
  const args: CniArg[] = [];
  for (const pair of text.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || pair.includes("=", equals + 1)) {
      return failed(fault("ENVIRONMENT_INVALID", `CNI_ARGS: invalid pair ${quote(pair)}: exactly one "=" is needed`));
    }
    args.push([pair.slice(0, equals), pair.slice(equals + 1)]);
  }
  return ok(args);
}

/** Splits CNI_ARGS into pairs, in order, at the first `=` of each. Parts without a key are left out: runtimes and tools pass such parts (MC-24). */
export function splitCniArgs(text: string): readonly CniArg[] {
  return text.split(";").flatMap((pair): CniArg[] => {
    const equals = pair.indexOf("=");
    return equals < 1 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)]];
  });
}

/** Joins the pairs to the text of CNI_ARGS, as libcni does. */
export function printCniArgs(args: readonly CniArg[]): string {
  return args.map(([key, value]) => `${key}=${value}`).join(";");
}

/**
 * The values of the keys that a plugin knows; the last of several equal keys wins. An unknown key is a fault unless
 * `IgnoreUnknown` is 1 or true. Fault: ENVIRONMENT_INVALID (4).
 */
export function readKnownArgs(args: readonly CniArg[], known: ReadonlySet<string>): Result<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  const unknown: string[] = [];
  let ignoreUnknown = false;
  for (const [key, value] of args) {
    if (key === "IgnoreUnknown") {
      const lower = value.toLowerCase();
      if (!["1", "true", "0", "false"].includes(lower)) {
        return failed(
          fault("ENVIRONMENT_INVALID", `CNI_ARGS: IgnoreUnknown must be 1, true, 0 or false, but is ${quote(value)}`),
        );
      }
      ignoreUnknown = lower === "1" || lower === "true";
    } else if (known.has(key)) {
      values.set(key, value);
    } else {
      unknown.push(`${key}=${value}`);
    }
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    return failed(fault("ENVIRONMENT_INVALID", `CNI_ARGS: unknown args ${quote(unknown.join(";"))}`));
  }
  return ok(values);
}
