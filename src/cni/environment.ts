// What a plugin is told through its environment, and what a runtime must set for each verb (CNI 1.1.0 section 2, L-05, L-09).
// The matrix is the one of libcni's skel package, which wants CNI_PATH although the specification calls it optional.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { checkContainerId, checkInterfaceName } from "./names.ts";

export const VERBS = ["ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"] as const;

export type Verb = (typeof VERBS)[number];

export function isVerb(text: string): text is Verb {
  return VERBS.some((verb) => verb === text);
}

/** What a runtime asks. What it did not set is the empty string. */
export interface CniCall {
  readonly verb: Verb;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  /** CNI_ARGS as it came. */
  readonly args: string;
  /** CNI_PATH as it came: directories joined by ":". */
  readonly path: string;
  /** CNI_NETNS_OVERRIDE: CNI_NETNS may be the plugin's own namespace (L-07). */
  readonly netnsOverride: boolean;
}

interface VariableRule {
  readonly name: string;
  readonly requiredFor: readonly Verb[];
  readonly check?: (text: string) => Result<string>;
}

// In the order in which skel names the missing ones.
const RULES: readonly VariableRule[] = [
  { name: "CNI_COMMAND", requiredFor: VERBS },
  { name: "CNI_CONTAINERID", requiredFor: ["ADD", "CHECK", "DEL"], check: checkContainerId },
  { name: "CNI_NETNS", requiredFor: ["ADD", "CHECK"] },
  { name: "CNI_IFNAME", requiredFor: ["ADD", "CHECK", "DEL"], check: checkInterfaceName },
  { name: "CNI_PATH", requiredFor: ["ADD", "CHECK", "DEL", "GC", "STATUS"] },
];

/**
 * Reads the call out of a plugin's environment. Faults: ENVIRONMENT_INVALID (4) for missing variables, all in one message,
 * for an unknown verb and for malformed values.
 */
export function readEnvironment(env: ReadonlyMap<string, string>): Result<CniCall> {
  const read = (name: string): string => env.get(name) ?? "";
  const command = read("CNI_COMMAND");
  const missing: string[] = [];
  for (const { name, requiredFor, check } of RULES) {
    if (name !== "CNI_COMMAND" && !requiredFor.some((verb) => verb === command)) continue;
    const value = read(name);
    if (value === "") {
      missing.push(name);
    } else if (check !== undefined) {
      const checked = check(value);
      if (!checked.ok) return checked;
    }
  }
  if (missing.length > 0) {
    return failed(fault("ENVIRONMENT_INVALID", `required env variables [${missing.join(",")}] missing`));
  }
  if (!isVerb(command)) return failed(fault("ENVIRONMENT_INVALID", `unknown CNI_COMMAND: ${quote(command, 40)}`));
  return ok({
    verb: command,
    containerId: read("CNI_CONTAINERID"),
    netns: read("CNI_NETNS"),
    ifname: read("CNI_IFNAME"),
    args: read("CNI_ARGS"),
    path: read("CNI_PATH"),
    netnsOverride: ["1", "true"].includes(read("CNI_NETNS_OVERRIDE").toLowerCase()),
  });
}

export type EnvironmentPair = readonly [name: string, value: string];

/**
 * The environment of a plugin: what is inherited, then the six variables of the call, which win; of several inherited pairs
 * of one name the later wins (L-09). GC and STATUS get the variables of an attachment empty, but they get them.
 */
export function stepEnvironment(
  call: Omit<CniCall, "netnsOverride">,
  inherited: Iterable<EnvironmentPair>,
): readonly EnvironmentPair[] {
  const env = new Map<string, string>();
  for (const [name, value] of inherited) env.set(name, value);
  const own: readonly EnvironmentPair[] = [
    ["CNI_COMMAND", call.verb],
    ["CNI_CONTAINERID", call.containerId],
    ["CNI_NETNS", call.netns],
    ["CNI_ARGS", call.args],
    ["CNI_IFNAME", call.ifname],
    ["CNI_PATH", call.path],
  ];
  for (const [name, value] of own) {
    // Deleted first, so that ours stand at the end in their order, whatever was inherited.
    env.delete(name);
    env.set(name, value);
  }
  return [...env];
}
