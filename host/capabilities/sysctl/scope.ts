// Binds the capability `sysctl` to one call: the granted settings under `net` in the pod's network namespace. Any other request is
// refused here, before a setting is written.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { allowedByList, type Allowlist } from "../../../src/sysctl/allowlist.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import type { SysctlEffects } from "../../protocol/shim.ts";
import type { Setting } from "../../protocol/messages.ts";
import { unreachable } from "../../protocol/unreachable.ts";
import { systemError } from "../../system/system-error.ts";
import type { SysctlSetting } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { requestDenial, type SysctlCall, writeDenial } from "./requests.ts";

/** The call that the capability is bound to, and its grant. */
export interface SysctlScope extends SysctlCall {
  readonly keys?: readonly string[] | undefined;
  /** Path of the pod's network namespace; empty if the namespace is gone. */
  readonly netns: string;
  /** The file of allowed keys, in the format of the reference tuning plugin; by default the plugin's own. A missing file allows all. */
  readonly allowlist?: string | undefined;
}

type Answer = Promise<WitOutcome<readonly string[]>>;

/** The capability's functions. Both return the old values of the settings, in their order. */
export interface SysctlImports {
  readonly read: (keys: readonly string[]) => Answer;
  readonly write: (settings: readonly SysctlSetting[]) => Answer;
}

/** The allow-list of the reference tuning plugin. */
const defaultAllowlist = "/etc/cni/tuning/allowlist.conf";
const maxAllowlistBytes = 1 << 20;

/** The capability for the delegate of one call. */
export function sysctlFor(scope: SysctlScope, shim: SysctlEffects): SysctlImports {
  return {
    read: async (keys) => {
      const settings = keys.map((key) => ({ key, value: "" }));
      const denied = denialOf(scope, settings);
      return denied === undefined ? witOutcome(await access(scope, shim, settings, "reading")) : refuse(denied);
    },
    write: async (settings) => {
      const denied = await writeDenialOf(scope, settings);
      return denied === undefined ? witOutcome(await access(scope, shim, settings, "writing")) : refuse(denied);
    },
  };
}

/** The fault of a request that is malformed, not granted or without a pod; undefined if it is allowed. */
function denialOf(scope: SysctlScope, settings: readonly Setting[]): Fault | undefined {
  return requestDenial(scope, settings) ?? (scope.netns === "" ? unreachable("SYSCTL_FAILED", "sysctl", "", 0) : undefined);
}

/** The fault of a write that the verb, the grant or the allow-list forbids; undefined if it is allowed. */
async function writeDenialOf(scope: SysctlScope, settings: readonly Setting[]): Promise<Fault | undefined> {
  const denied = writeDenial(scope) ?? denialOf(scope, settings);
  if (denied !== undefined || settings.length === 0) return denied;
  const list = readAllowlist(scope.allowlist ?? defaultAllowlist);
  if (!list.ok) return list.fault;
  if (list.value === undefined) return undefined;
  // Loaded here: Go's regular expressions take 10 ms of CPU to load, and most nodes have no allow-list.
  const { readExpression } = await import("../../../src/sysctl/expression.ts");
  for (const { key } of settings) {
    const allowed = allowedByList(list.value, key, scope.attachment?.ifname ?? "", readExpression);
    if (!allowed.ok) return allowed.fault;
  }
  return undefined;
}

function readAllowlist(file: string): Result<Allowlist | undefined> {
  try {
    return ok({ file, text: readRegularFile(file, { maxBytes: maxAllowlistBytes, foreign: true }) });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return ok(undefined);
    return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${file}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Reads or writes the settings, and returns their old values. After a failure, the settings written before it are restored. */
async function access(
  scope: SysctlScope,
  shim: SysctlEffects,
  settings: readonly Setting[],
  doing: string,
): Promise<Result<readonly string[]>> {
  if (settings.length === 0) return ok([]);
  const { errno, sent, reply } = await shim.sysctl({ path: scope.netns, settings });
  const values = new TextDecoder()
    .decode(reply)
    .split("\0")
    .slice(0, -1)
    .map((value) => value.replace(/\n$/u, ""));
  if (errno === 0 && values.length === settings.length) return ok(values);
  if (!sent) return failed(unreachable("SYSCTL_FAILED", "sysctl", scope.netns, errno));
  const failing = settings[values.length];
  const attempt =
    failing === undefined ? doing : `${doing} ${failing.key}${failing.value === "" ? "" : ` (${quote(failing.value, 64)})`}`;
  const undone = await restore(scope, shim, settings, values);
  return failed(fault("SYSCTL_FAILED", `sysctl: ${attempt} in ${quote(scope.netns)}: ${systemError(errno)}${undone}`));
}

/**
 * Restores the old values, the last one first, because a setting may change others. Returns a text about values that could not be
 * restored; empty for none.
 */
async function restore(
  { netns }: SysctlScope,
  shim: SysctlEffects,
  settings: readonly Setting[],
  before: readonly string[],
): Promise<string> {
  const written = before.map((value, at) => ({ key: settings[at]?.key ?? "", value, changed: settings[at]?.value !== "" }));
  // An unreadable setting has an empty old value.
  const lost = written.filter(({ value, changed }) => changed && value === "").map(({ key }) => key);
  const back = written.filter(({ value, changed }) => changed && value !== "").toReversed();
  const notes = lost.length === 0 ? [] : [`${lost.join(", ")} can't be read, so its old value is lost`];
  if (back.length > 0) {
    const { errno } = await shim.sysctl({ path: netns, settings: back.map(({ key, value }) => ({ key, value })) });
    if (errno !== 0) notes.push(`not all settings that were written before could be restored: ${systemError(errno)}`);
  }
  return notes.length === 0 ? "" : `; ${notes.join("; ")}`;
}
