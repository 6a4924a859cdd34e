// Binds the capability `sysctl` to one call: settings under `net` of its pod's network namespace, of those that the administrator lists.
// What a delegate asks beyond that is refused here, before anything is written.

import type { Verb } from "../../src/cni/environment.ts";
import { matchesPattern } from "../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../src/configuration/not-granted.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { allowedByList, defaultAllowlist, mostKeyLength } from "../../src/sysctl/allowlist.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";
import type { Hands } from "../hands/hands.ts";
import type { Setting } from "../hands/messages.ts";
import { unreachable } from "../hands/unreachable.ts";
import { systemError } from "../netlink/system-error.ts";
import type { Fault as WitFault, SysctlSetting } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";

export interface SysctlScope {
  /** The delegate's type, under which its grant stands. */
  readonly type: string;
  readonly verb: Verb;
  /** Undefined where the call is about none (GC, STATUS). */
  readonly attachment: { readonly ifname: string } | undefined;
  /** Path of the pod's network namespace; empty: there is none (any more). */
  readonly netns: string;
  /** Patterns of keys, as the grant has them. */
  readonly keys?: readonly string[] | undefined;
  /** File of the reference tuning plugin's kind; the plugin's own unless said otherwise. Every key may be written where it isn't there. */
  readonly allowlist?: string | undefined;
}

type Answered = Promise<Outcome<readonly string[], WitFault>>;

export interface SysctlImports {
  readonly read: (keys: readonly string[]) => Answered;
  readonly write: (settings: readonly SysctlSetting[]) => Answered;
}

const mostSettings = 256;
/** As the hands have it. */
const mostValueBytes = 65_535;
const mostAllowlistBytes = 1 << 20;

/** Verbs that may write. */
const writers: ReadonlySet<Verb> = new Set(["ADD", "DEL"]);

/** The capability as the delegate of this one call gets it. */
export function sysctlFor(scope: SysctlScope, hands: Pick<Hands, "sysctl">): SysctlImports {
  return {
    read: async (keys) => {
      const settings = keys.map((key) => ({ key, value: "" }));
      const denied = whyNotRead(scope, settings);
      return denied === undefined ? answer(await act(scope, hands, settings, "reading")) : refuse(denied);
    },
    write: async (settings) => {
      const denied = whyNotWritten(scope, settings);
      return denied === undefined ? answer(await act(scope, hands, settings, "writing")) : refuse(denied);
    },
  };
}

function whyNotRead(scope: SysctlScope, settings: readonly Setting[]): Fault | undefined {
  const { verb, attachment } = scope;
  if (attachment === undefined) return misused(`${verb} has no attachment whose namespace it could be`);
  if (settings.length > mostSettings) return misused(`${settings.length} settings at once, at most ${mostSettings} are taken`);
  for (const { key, value } of settings) {
    if (!isKey(key)) return misused(`${quote(key)} is no path of a setting below net`);
    if (value.includes("\0") || Buffer.byteLength(value) > mostValueBytes)
      return misused(`the value of ${key} holds a NUL or more than ${mostValueBytes} bytes`);
    const keys = scope.keys ?? [];
    if (!keys.some((pattern) => isOf(pattern, key, attachment.ifname)))
      return notGranted({ type: scope.type, key: "sysctl.keys", asked: `sysctl: ${quote(key)}`, granted: keys });
  }
  return scope.netns === "" ? unreachable("SYSCTL_FAILED", "sysctl", "", 0) : undefined;
}

function whyNotWritten(scope: SysctlScope, settings: readonly Setting[]): Fault | undefined {
  if (!writers.has(scope.verb)) return misused(`${scope.verb} writes nothing, it may read only`);
  const denied = whyNotRead(scope, settings);
  if (denied !== undefined || settings.length === 0) return denied;
  const list = readAllowlist(scope.allowlist ?? defaultAllowlist);
  if (!list.ok) return list.fault;
  for (const { key } of settings) {
    if (list.value === undefined) break;
    const allowed = allowedByList(list.value.file, list.value.text, key, scope.attachment?.ifname ?? "");
    if (!allowed.ok) return allowed.fault;
  }
  return undefined;
}

function readAllowlist(file: string): Result<{ readonly file: string; readonly text: string } | undefined> {
  try {
    return ok({ file, text: readRegularFile(file, { most: mostAllowlistBytes, foreign: true }) });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return ok(undefined);
    return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${file}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Components that are neither empty nor `.` nor `..`, so that none leads anywhere else. */
function isKey(key: string): boolean {
  return key.length <= mostKeyLength && /^net(?:\/(?!\.{1,2}(?:\/|$))[^/\0\n]+)+$/u.test(key);
}

/** Whether the key is of a grant's pattern: part by part, `IFNAME` the attachment's interface, whatever characters that has. */
function isOf(pattern: string, key: string, ifname: string): boolean {
  const [wanted, parts] = [pattern.split("/"), key.split("/")];
  if (wanted.length !== parts.length) return false;
  return wanted.every((part, at) => (part === "IFNAME" ? parts[at] === ifname : matchesPattern(part, parts[at] ?? "")));
}

/** Reads, or writes; answers the values before. Where one fails, what was written before it gets its value back. */
async function act(
  scope: SysctlScope,
  hands: Pick<Hands, "sysctl">,
  settings: readonly Setting[],
  doing: string,
): Promise<Result<readonly string[]>> {
  if (settings.length === 0) return ok([]);
  const { errno, sent, reply } = await hands.sysctl({ path: scope.netns, settings });
  const values = new TextDecoder()
    .decode(reply)
    .split("\0")
    .slice(0, -1)
    .map((value) => value.replace(/\n$/u, ""));
  if (errno === 0 && values.length === settings.length) return ok(values);
  if (!sent) return failed(unreachable("SYSCTL_FAILED", "sysctl", scope.netns, errno));
  const failing = settings[values.length];
  const what =
    failing === undefined ? doing : `${doing} ${failing.key}${failing.value === "" ? "" : ` (${quote(failing.value, 64)})`}`;
  const undone = await restore(scope, hands, settings, values);
  return failed(fault("SYSCTL_FAILED", `sysctl: ${what} in ${quote(scope.netns)}: ${systemError(errno)}${undone}`));
}

/** The last one first: a setting may change others. Answers what is to be said of it. */
async function restore(
  { netns }: SysctlScope,
  hands: Pick<Hands, "sysctl">,
  settings: readonly Setting[],
  before: readonly string[],
): Promise<string> {
  const written = before.map((value, at) => ({ key: settings[at]?.key ?? "", value, changed: settings[at]?.value !== "" }));
  // Of one that can't be read the value before isn't known.
  const lost = written.filter(({ value, changed }) => changed && value === "").map(({ key }) => key);
  const back = written.filter(({ value, changed }) => changed && value !== "").toReversed();
  const notes = lost.length === 0 ? [] : [`${lost.join(", ")} can't be read, so what it had before is lost`];
  if (back.length > 0) {
    const { errno } = await hands.sysctl({ path: netns, settings: back.map(({ key, value }) => ({ key, value })) });
    if (errno !== 0) notes.push(`not all that was written before could be taken back: ${systemError(errno)}`);
  }
  return notes.length === 0 ? "" : `; ${notes.join("; ")}`;
}

function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `sysctl: ${what}`);
}

function answer<T>(result: Result<T>): Outcome<T, WitFault> {
  return result.ok ? { ok: result.value } : refuse(result.fault);
}

function refuse({ code, msg, details }: Fault): { readonly err: WitFault } {
  return { err: { code, msg, details } };
}
