// Sends messages to netfilter. A refusal becomes a fault that names the action, the kernel's reason, and modules that the kernel may lack.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { unreachable } from "../../protocol/unreachable.ts";
import { deadlineMs, maxDumps, type NetlinkSender } from "../../system/netlink/exchange.ts";
import { EAFNOSUPPORT, EINVAL, EMSGSIZE, ENOBUFS, ENOENT, EOPNOTSUPP, EPROTONOSUPPORT, EXDEV } from "../../system/errno.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { systemError } from "../../system/system-error.ts";
import { batch, generationRequest } from "./nf-tables.ts";

/** The effect of the shim that `firewall` needs. */
export type NetlinkShim = NetlinkSender;

/** One change of a batch. */
export interface Change {
  readonly request: NetlinkRequest;
  /** The action for faults: `making the table plexus of IPv4`. */
  readonly action: string;
  /** The errno of the kernel's refusal if a concurrent change caused it. */
  readonly raceErrno?: number;
}

/** The part of a change that a fault names. */
type NamedChange = Pick<Change, "action">;

/** The kernel's refusal of a change. */
export interface Refusal<C extends NamedChange = Change> {
  /** Undefined: the kernel refused the batch as a whole. */
  readonly change: C | undefined;
  readonly errno: number;
  readonly errorText: string;
}

/** Changes as the bytes of one batch, which may be sent several times. */
export interface EncodedBatch {
  readonly bytes: Uint8Array;
  /** The number of changes. */
  readonly changes: number;
}

/** Sends requests that only read; only the last may be a dump. Each answer may still be a refusal (`errno`). `path`: a network namespace; empty: the shim's own. */
export async function ask(
  shim: NetlinkShim,
  requests: readonly NetlinkRequest[],
  action: string,
  protocol: "netfilter" | "route" = "netfilter",
  path = "",
): Promise<Result<readonly NetlinkAnswer[]>> {
  for (let tries = 1; ; tries++) {
    const family = protocol === "netfilter" ? { protocol } : {};
    const outcome = await shim.netlink({ path, ...family, request: encodeRequests(requests), deadlineMs });
    if (outcome.errno !== 0) return failed(unanswered(action, path, outcome));
    const answers = decodeAnswers(outcome.reply, requests.length);
    const whole = answers.filter((answer) => answer !== undefined);
    if (whole.length < requests.length) return failed(failure(action, "the kernel's answer is incomplete"));
    if (!whole.some(({ interrupted }) => interrupted)) return ok(whole);
    if (tries === maxDumps) return failed(failure(action, `concurrent changes interrupted the dump ${maxDumps} times`));
  }
}

/** Sends changes as one batch, which comes into force as a whole or not at all. Answers the refusals, in order. `mode: "try"`: changes nothing. `path`: as for `ask`. `generation`: as for `batch`. */
export async function commit(
  shim: NetlinkShim,
  changes: readonly Change[],
  mode: "commit" | "try" = "commit",
  path = "",
  generation?: number,
): Promise<Result<readonly Refusal[]>> {
  const requests = changes.map(({ request }) => request);
  const refused = await sendBatch(shim, encodeBatch(requests, mode, generation), path);
  return refused.ok ? ok(refused.value.map(({ index, ...refusal }) => ({ change: changes[index], ...refusal }))) : refused;
}

/** The bytes of a batch. `mode`, `generation`: as for `commit`. */
export function encodeBatch(
  requests: readonly NetlinkRequest[],
  mode: "commit" | "try" = "commit",
  generation?: number,
): EncodedBatch {
  const last = requests.length - 1;
  // Only the last change is acknowledged: hundreds of acknowledgements overflow the socket's receive buffer. The kernel sends refusals for all.
  const quiet = requests.map((request, index) => (index < last ? { ...request, quiet: true } : request));
  return { bytes: encodeRequests(batch(quiet, mode === "commit", generation)), changes: requests.length };
}

/** As `commit`, for a batch that is encoded already. `index`: that of the refused change; -1: the kernel refused the batch as a whole. */
export async function sendBatch(
  shim: NetlinkShim,
  { bytes, changes }: EncodedBatch,
  path: string,
): Promise<Result<readonly { readonly index: number; readonly errno: number; readonly errorText: string }[]>> {
  const outcome = await shim.netlink({ path, protocol: "netfilter", request: bytes, deadlineMs });
  if (outcome.errno === EMSGSIZE && !outcome.sent) return failed(batchTooLarge(bytes.length));
  // ENOBUFS: the receive buffer overflowed with refusals. One of them suffices.
  if (outcome.errno !== 0 && outcome.errno !== ENOBUFS) return failed(unanswered("changing the rules", path, outcome));
  // A batch has a message before its changes, and one behind them.
  const answers = decodeAnswers(outcome.reply, changes + 2);
  const refused = answers.flatMap((answer, index) =>
    answer === undefined || answer.errno === 0 ? [] : [{ index: index - 1, errno: answer.errno, errorText: answer.errorText }],
  );
  if (refused.length > 0) return ok(refused);
  if (outcome.errno !== 0) return failed(unanswered("changing the rules", path, outcome));
  return answers[changes] === undefined ? failed(failure("changing the rules", "the kernel's answer is incomplete")) : ok([]);
}

/**
 * The result of a removal. A kernel without a part of netfilter has nothing to remove there, so that a DEL and a GC succeed. `request`: asks for anything of
 * that part. `none`: the result of such a kernel.
 */
export async function unlessAbsent<T>(
  shim: NetlinkShim,
  result: Result<T>,
  none: T,
  request: NetlinkRequest = generationRequest(),
): Promise<Result<T>> {
  return result.ok || (await hasPart(shim, request)) ? result : ok(none);
}

/** Whether the kernel has the part of netfilter that answers the request; also if the kernel could not be asked. */
async function hasPart(shim: NetlinkShim, request: NetlinkRequest): Promise<boolean> {
  const outcome = await shim.netlink({ path: "", protocol: "netfilter", request: encodeRequests([request]), deadlineMs });
  if (outcome.errno !== 0) return outcome.errno !== EPROTONOSUPPORT;
  const [answer] = decodeAnswers(outcome.reply, 1);
  // nfnetlink's answer for a part without its module.
  return answer === undefined || (answer.errno !== EINVAL && answer.errno !== EOPNOTSUPP);
}

/** The fault of a refusal. */
export function refusalFault({ change, errno, errorText }: Refusal<NamedChange>): Fault {
  const action = change?.action ?? "changing the rules";
  const reason = `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`;
  const lacking =
    errno === ENOENT || errno === EOPNOTSUPP || errno === EPROTONOSUPPORT || errno === EAFNOSUPPORT
      ? "; the kernel may lack a module (nf_tables, nft_chain_nat, nft_nat, nft_masq, nft_ct, nft_numgen, nft_fib_ipv4, nft_fib_ipv6; nft_meta_bridge for frames)"
      : "";
  return failure(action, `${reason}${lacking}`);
}

/** Fault: FIREWALL_FAILED. */
export function failure(action: string, reason: string): Fault {
  return fault("FIREWALL_FAILED", `firewall: ${action}: ${reason}`);
}

/** The kernel doubles SO_SNDBUF, which net.core.wmem_max caps without CAP_NET_ADMIN in the initial user namespace. */
function batchTooLarge(bytes: number): Fault {
  const reason = `a batch of ${bytes} bytes exceeds the send buffer of the shim's netlink socket (EMSGSIZE)`;
  const remedy = `Map fewer ports, or raise the sysctl net.core.wmem_max to ${bytes}`;
  return failure("changing the rules", `${reason}. ${remedy}`);
}

function unanswered(action: string, path: string, outcome: { readonly errno: number; readonly sent: boolean }): Fault {
  if (outcome.errno === EXDEV) return unreachable("FIREWALL_FAILED", `firewall: ${action}`, path, outcome.errno);
  if (outcome.errno === EPROTONOSUPPORT)
    return failure(action, "the kernel has no nftables (EPROTONOSUPPORT for NETLINK_NETFILTER: module nfnetlink)");
  const reason = outcome.sent
    ? "the kernel's answer is incomplete, so it is unknown whether the change was made"
    : "the shim could not ask the kernel";
  return failure(action, `${reason}: ${systemError(outcome.errno)}`);
}
