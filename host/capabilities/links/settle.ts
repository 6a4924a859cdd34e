// `settle`: waits until a link is running and its addresses are usable. A link without carrier is no fault: the cable, or the standby NIC
// below it, may come later, and the kernel then does duplicate address detection by itself.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import { addressesOf, addressesRequest, type AddressState } from "../../system/netlink/address.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import type { LinksSettling } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkTransaction } from "./link-transaction.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import type { LinkDetails } from "./link-details.ts";

/** Pauses between reads in ms: a veth runs within 1.5 ms, duplicate address detection takes a second or two. */
const firstPauses = [0, 1, 2, 5, 10, 20];
const laterPause = 50;

/** `pending`: the reason to wait on; `lacksCarrier`: it is no fault at the end; `failure`: the reason why waiting is useless. */
type SettleState = "settled" | { readonly pending: string; readonly lacksCarrier: boolean } | { readonly failure: string };

/**
 * Waits until the link is settled, or for `milliseconds` if it is up and has no carrier. Faults: NETLINK_FAILED where the link is still down
 * or an address still tentative after `milliseconds`, or where an address is a duplicate.
 */
export async function settle(transaction: LinkTransaction, settling: LinksSettling, clock: () => number): Promise<Result<void>> {
  const link = transaction.link(settling.link);
  if (!link.ok) return link;
  if (!(await transaction.effects.flush())) return transaction.failed();
  return untilSettled(transaction, settling, clock, () => readState(transaction, link.value));
}

/** As `settle`, for the last operation of an apply: the links that the apply reads back anyway, with the queued effects, show whether the link is settled. */
export async function settleReadingBack(
  transaction: LinkTransaction,
  settling: LinksSettling,
  clock: () => number,
  readBack: () => Promise<readonly LinkDetails[]>,
): Promise<Result<readonly LinkDetails[]>> {
  const link = transaction.link(settling.link);
  if (!link.ok) return link;
  let details: readonly LinkDetails[] = [];
  const settled = await untilSettled(transaction, settling, clock, async () => {
    details = await readBack();
    return (await transaction.effects.flush()) ? ok(stateAmong(transaction, link.value, details)) : transaction.failed();
  });
  return settled.ok ? ok(details) : settled;
}

async function untilSettled(
  { label }: LinkTransaction,
  { link: { place, name }, milliseconds }: LinksSettling,
  clock: () => number,
  readAgain: () => Promise<Result<SettleState>>,
): Promise<Result<void>> {
  let deadline = Infinity;
  let lackedCarrier = false;
  for (let attempt = 0; ; attempt++) {
    const state = await readAgain();
    if (!state.ok) return state;
    if (state.value === "settled") return ok(undefined);
    if (attempt === 0) deadline = clock() + milliseconds;
    const link = linkText(place, name);
    if ("failure" in state.value) return failed(fault("NETLINK_FAILED", `links: ${label}: ${link}: ${state.value.failure}`));
    lackedCarrier ||= state.value.lacksCarrier;
    // With a carrier that came late, duplicate address detection has just begun.
    if (clock() >= deadline && lackedCarrier) return ok(undefined);
    if (clock() >= deadline)
      return failed(
        fault("NETLINK_FAILED", `links: ${label}: ${link} is not usable after ${milliseconds} ms: ${state.value.pending}`),
      );
    await new Promise((done) => setTimeout(done, Math.min(firstPauses[attempt] ?? laterPause, Math.max(0, deadline - clock()))));
  }
}

async function readState(transaction: LinkTransaction, link: KnownLink): Promise<Result<SettleState>> {
  const { place, index } = link;
  const requests = [linkRequest(index), addressesRequest(index)];
  const end = otherEnd(transaction, link);
  const otherPlace = place === "pod" ? "host" : "pod";
  const [{ answers, errno }, other] = await Promise.all([
    transaction.namespaces.exchange(place, requests),
    end === undefined ? undefined : transaction.namespaces.exchange(otherPlace, [linkRequest(end.index)]),
  ]);
  const [linkAnswer, addresses] = answers;
  if (linkAnswer === undefined || addresses === undefined) return failed(transaction.namespaces.unreachable(errno));
  return ok(judge(linkStatesIn(linkAnswer)[0], addressesOf(addresses, index), linkStatesIn(other?.answers[0])[0]));
}

function stateAmong(transaction: LinkTransaction, link: KnownLink, details: readonly LinkDetails[]): SettleState {
  const { place, index } = link;
  const settling = details.find((each) => each.place === place && each.state.index === index);
  const end = otherEnd(transaction, link);
  const other = details.find((each) => each.place === end?.place && each.state.index === end.index);
  return judge(settling?.state, settling?.addresses ?? [], other?.state);
}

function judge(state: LinkState | undefined, addresses: readonly AddressState[], other: LinkState | undefined): SettleState {
  if (state === undefined) return { failure: "the link no longer exists" };
  const duplicate = addresses.find(({ dadFailed }) => dadFailed);
  if (duplicate !== undefined)
    return {
      failure: `${formatCidr(duplicate.cidr)} is already in use on the network (duplicate address detection). Remove the other user, or exclude the address from the IPAM ranges.`,
    };
  if (!state.running) return { pending: state.up ? "it has no carrier" : "it is down", lacksCarrier: state.up };
  if (state.kind === "veth" && other?.running === false && state.link === other.index)
    return { pending: other.up ? "its other end has no carrier" : "its other end is down", lacksCarrier: other.up };
  const tentative = addresses.find((each) => each.tentative);
  return tentative === undefined ? "settled" : { pending: `${formatCidr(tentative.cidr)} is tentative`, lacksCarrier: false };
}

/** The other end of a veth that this apply made; undefined for other links. */
function otherEnd({ links }: LinkTransaction, { place, index }: KnownLink): KnownLink | undefined {
  return links
    .all()
    .find((link) => link.place !== place && link.isNew && link.state?.kind === "veth" && link.state.link === index);
}
