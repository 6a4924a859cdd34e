// Messages to netfilter, sent and judged: what the kernel refuses becomes a fault that says what was asked for, and why it may be.

import { getSystemErrorMap } from "node:util";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Hands } from "../hands/hands.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../netlink/message.ts";
import { batch } from "./nf-tables.ts";

export type Asks = Pick<Hands, "netlink">;

export const errno = {
  ENOENT: 2,
  EINTR: 4,
  EBUSY: 16,
  EEXIST: 17,
  ERESTART: 85,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
  ENOBUFS: 105,
} as const;

const deadlineMs = 10_000;
/** A dump that others disturb is asked for again, this often. */
const dumps = 5;

/** One change of a batch, and what it is for, in words. */
export interface Change {
  readonly request: NetlinkRequest;
  readonly what: string;
  /** What the kernel refuses it with where somebody else's change came between. */
  readonly overtaken?: number;
}

/** The change that the kernel refused; undefined: the batch as a whole. */
export interface Refusal {
  readonly change: Change | undefined;
  readonly errno: number;
  readonly words: string;
}

/** Sends requests of which only the last may be a dump. */
export async function ask(
  hands: Asks,
  requests: readonly NetlinkRequest[],
  what: string,
  protocol: "netfilter" | "route" = "netfilter",
): Promise<Result<readonly NetlinkAnswer[]>> {
  for (let tries = 1; ; tries++) {
    const to = protocol === "netfilter" ? { protocol } : {};
    const told = await hands.netlink({ path: "", ...to, request: encodeRequests(requests), deadlineMs });
    if (told.errno !== 0) return failed(unanswered(what, told));
    const answers = decodeAnswers(told.reply, requests.length);
    const whole = answers.filter((answer) => answer !== undefined);
    if (whole.length < requests.length) return failed(failure(what, "the kernel's answer did not come whole"));
    if (!whole.some(({ interrupted }) => interrupted)) return ok(whole);
    if (tries === dumps) return failed(failure(what, `the rules changed during each of ${dumps} tries`));
  }
}

/** Puts changes in force, all or none; answers which ones were refused, in order. `only: "try"`: none. */
export async function commit(hands: Asks, changes: readonly Change[], only?: "try"): Promise<Result<readonly Refusal[]>> {
  const requests = batch(
    changes.map(({ request }) => request),
    only !== "try",
  );
  const told = await hands.netlink({ path: "", protocol: "netfilter", request: encodeRequests(requests), deadlineMs });
  if (told.errno !== 0) return failed(unanswered("changing the rules", told));
  const answers = decodeAnswers(told.reply, requests.length);
  const refused = answers.flatMap((answer, index): Refusal[] =>
    answer === undefined || answer.errno === 0 ? [] : [{ change: changes[index - 1], errno: answer.errno, words: answer.words }],
  );
  if (refused.length > 0) return ok(refused);
  const answered = answers.filter((answer) => answer !== undefined).length;
  return answered < changes.length ? failed(failure("changing the rules", "the kernel's answer did not come whole")) : ok([]);
}

/** What a refusal means. */
export function refusalFault({ change, errno: number, words }: Refusal): Fault {
  const what = change?.what ?? "changing the rules";
  const why = `${systemError(number)}${words === "" ? "" : `: ${words}`}`;
  const lacking =
    number === errno.ENOENT || number === errno.EOPNOTSUPP || number === errno.EPROTONOSUPPORT || number === errno.EAFNOSUPPORT
      ? "; the kernel lacks what this needs of nftables (nf_tables, nft_chain_nat, nft_nat, nft_masq, nft_ct, nft_fib_ipv4, nft_fib_ipv6; nft_meta_bridge for frames)"
      : "";
  return failure(what, `${why}${lacking}`);
}

export function failure(what: string, why: string): Fault {
  return fault("FIREWALL_FAILED", `firewall: ${what}: ${why}`);
}

function unanswered(what: string, told: { readonly errno: number; readonly sent: boolean }): Fault {
  if (told.errno === errno.EPROTONOSUPPORT)
    return failure(what, "the kernel has no nftables (EPROTONOSUPPORT for NETLINK_NETFILTER: module nfnetlink)");
  const why = told.sent ? "the answer did not come whole, so what was done is not known" : "the kernel could not be asked";
  return failure(what, `${why}: ${systemError(told.errno)}`);
}

export function systemError(number: number): string {
  const known = getSystemErrorMap().get(-number);
  return known === undefined ? `errno ${number}` : `${known[0]}, ${known[1]}`;
}
