// The environment of a plugin call: its variables, which of them each verb requires, and CNI_ARGS (CNI 1.1.0 section 2, L-05, L-09, L-61). The requirements are those of
// libcni's skel package, which requires CNI_PATH although the specification calls it optional.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { checkAttachedInterfaceName, checkContainerId, checkInterfaceName } from "./attachment.ts";

/** The values of CNI_COMMAND. */
export const VERBS = ["ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"] as const;

/** See `VERBS`. */
export type Verb = (typeof VERBS)[number];

/** Whether `text` is a value of CNI_COMMAND. */
export function isVerb(text: string): text is Verb {
  return VERBS.some((verb) => verb === text);
}

/** A runtime's request. A variable that the runtime did not set is the empty string. */
export interface CniCall {
  readonly verb: Verb;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  /** CNI_ARGS, unparsed. */
  readonly args: string;
  /** CNI_PATH, unparsed: directories joined by ":". */
  readonly path: string;
  /** CNI_NETNS_OVERRIDE: CNI_NETNS may be the plugin's own network namespace (L-07). */
  readonly netnsOverride: boolean;
}

interface VariableRule {
  readonly name: string;
  readonly requiredFor: readonly Verb[];
  readonly check?: (text: string, command: string) => Result<string>;
}

/** For DEL, only libcni's rule applies: an attachment must stay removable (L-04). */
function checkIfname(text: string, command: string): Result<string> {
  return command === "DEL" ? checkAttachedInterfaceName(text) : checkInterfaceName(text);
}

/** The variables that plugins get. */
const VARIABLES = ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"] as const;

// In the order in which skel lists missing variables.
const RULES: readonly VariableRule[] = [
  { name: "CNI_COMMAND", requiredFor: VERBS },
  { name: "CNI_CONTAINERID", requiredFor: ["ADD", "CHECK", "DEL"], check: checkContainerId },
  { name: "CNI_NETNS", requiredFor: ["ADD", "CHECK"] },
  { name: "CNI_IFNAME", requiredFor: ["ADD", "CHECK", "DEL"], check: checkIfname },
  { name: "CNI_PATH", requiredFor: ["ADD", "CHECK", "DEL", "GC", "STATUS"] },
];

/**
 * Reads the call from a plugin's environment. Fault: ENVIRONMENT_INVALID (4) for missing variables (all in one message), an
 * unknown verb, and malformed values. The message names the variable.
 */
export function readEnvironment(env: ReadonlyMap<string, string>): Result<CniCall> {
  const read = (name: string): string => env.get(name) ?? "";
  // A lone surrogate stands for a byte that is not UTF-8. Neither a component's string nor a pod's name can contain it.
  const garbled = VARIABLES.filter((name) => !read(name).isWellFormed());
  if (garbled.length > 0) return failed(fault("ENVIRONMENT_INVALID", `${garbled.join(", ")}: must be UTF-8 text`));
  const command = read("CNI_COMMAND");
  const missing: string[] = [];
  for (const { name, requiredFor, check } of RULES) {
    if (name !== "CNI_COMMAND" && !requiredFor.some((verb) => verb === command)) continue;
    const value = read(name);
    if (value === "") {
      missing.push(name);
    } else if (check !== undefined) {
      const checked = check(value, command);
      if (!checked.ok) return failed({ ...checked.fault, msg: `${name}: ${checked.fault.msg}` });
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

/** One environment variable. */
export type EnvironmentPair = readonly [name: string, value: string];

/**
 * The environment of a plugin: the inherited pairs, then the six variables of the call, which win. Of several inherited pairs
 * with one name the last wins (L-09). GC and STATUS get the variables of an attachment, empty.
 */
export function stepEnvironment(
  call: Omit<CniCall, "netnsOverride">,
  inherited: Iterable<EnvironmentPair>,
): readonly EnvironmentPair[] {
  const env = new Map<string, string>();
  for (const [name, value] of inherited) env.set(name, value);
  const callVariables: readonly EnvironmentPair[] = [
    ["CNI_COMMAND", call.verb],
    ["CNI_CONTAINERID", call.containerId],
    ["CNI_NETNS", call.netns],
    ["CNI_ARGS", call.args],
    ["CNI_IFNAME", call.ifname],
    ["CNI_PATH", call.path],
  ];
  for (const [name, value] of callVariables) {
    // Deleted first, so that the call's variables stand at the end in this order, whatever was inherited.
    env.delete(name);
    env.set(name, value);
  }
  return [...env];
}

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
