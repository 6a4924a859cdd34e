// The requests to the capability `sysctl` that a call may make. The node and the kit for authors have the same rules. No I/O.

import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { quote } from "../../../src/json/quote.ts";
import { isSettingKey } from "../../../src/sysctl/setting-key.ts";
import type { SysctlSetting } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { misuseOf } from "../outcome.ts";

/** The call that makes the request, and its grant. */
export interface SysctlCall {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: { readonly ifname: string } | undefined;
  /** The granted patterns of keys; `all`: a test's pod grants each. */
  readonly keys?: readonly string[] | "all" | undefined;
}

/** Maximum number of settings in one call. */
const maxSettings = 256;
/** Maximum bytes of a value; the shim has the same limit. */
const maxValueBytes = 65_535;

const misused = misuseOf("sysctl");

/** Verbs that may write. */
const writingVerbs: ReadonlySet<Verb> = new Set(["ADD", "DEL"]);

/** The fault of a verb that may not write; undefined if it may. */
export function writeDenial({ verb }: SysctlCall): Fault | undefined {
  return writingVerbs.has(verb) ? undefined : misused(`${verb} may only read settings, not write them`);
}

/** The fault of a request that is malformed or not granted; undefined if it is allowed. An empty value is a read. */
export function requestDenial(call: SysctlCall, settings: readonly SysctlSetting[]): Fault | undefined {
  const { verb, attachment, type, keys = [] } = call;
  if (attachment === undefined) return misused(`${verb} has no attachment, and so no network namespace`);
  if (settings.length > maxSettings) return misused(`${settings.length} settings in one call; the maximum is ${maxSettings}`);
  for (const { key, value } of settings) {
    if (!isSettingKey(key)) return misused(`${quote(key)} is not a path of a setting below net`);
    if (value.includes("\0") || Buffer.byteLength(value) > maxValueBytes)
      return misused(`the value of ${key} contains a NUL or has more than ${maxValueBytes} bytes`);
    if (keys !== "all" && !keys.some((pattern) => matchesKey(pattern, key, attachment.ifname)))
      return notGranted({ type, key: "sysctl.keys", request: `sysctl: ${quote(key)}`, granted: keys });
  }
  return undefined;
}

/** Whether a grant's pattern matches the key, part by part. `IFNAME` matches the attachment's interface name literally. */
function matchesKey(pattern: string, key: string, ifname: string): boolean {
  const [patternParts, parts] = [pattern.split("/"), key.split("/")];
  if (patternParts.length !== parts.length) return false;
  return patternParts.every((part, at) => (part === "IFNAME" ? parts[at] === ifname : matchesPattern(part, parts[at] ?? "")));
}
