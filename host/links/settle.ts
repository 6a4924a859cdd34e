// `settle`: waits until a link and its addresses may be used.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatCidr } from "../../src/net/ip.ts";
import { addressesOf, addressesRequest, type AddressState } from "../netlink/address.ts";
import { linkRequest } from "../netlink/link-change.ts";
import { type LinkState, linkStateIn } from "../netlink/link-state.ts";
import type { NetlinkAnswer } from "../netlink/message.ts";
import type { LinksSettling } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Acting } from "./acting.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import type { SeenLink } from "./see-links.ts";

/** Between looks, in ms: a veth runs within 1.5 ms, duplicate address detection takes a second or two. */
const pauses = [0, 1, 2, 5, 10, 20];
const lastPause = 50;

type Look = "settled" | { readonly waitsFor: string } | { readonly why: string };

export async function settle(acting: Acting, settling: LinksSettling, clock: () => number): Promise<Result<void>> {
  const link = acting.link(settling.link);
  if (!link.ok) return link;
  if (!(await acting.transaction.flush())) return acting.failed();
  return untilSettled(acting, settling, clock, () => lookAt(acting, link.value));
}

/** The same where nothing is done after it: what is read back, together with all that waits to be done, says whether it has settled. */
export async function settleReadingBack(
  acting: Acting,
  settling: LinksSettling,
  clock: () => number,
  readBack: () => Promise<readonly SeenLink[]>,
): Promise<Result<readonly SeenLink[]>> {
  const link = acting.link(settling.link);
  if (!link.ok) return link;
  let seen: readonly SeenLink[] = [];
  const settled = await untilSettled(acting, settling, clock, async () => {
    seen = await readBack();
    return (await acting.transaction.flush()) ? ok(lookIn(acting, link.value, seen)) : acting.failed();
  });
  return settled.ok ? ok(seen) : settled;
}

async function untilSettled(
  { by }: Acting,
  { link: { place, name }, milliseconds }: LinksSettling,
  clock: () => number,
  lookAgain: () => Promise<Result<Look>>,
): Promise<Result<void>> {
  let due = Infinity;
  for (let look = 0; ; look++) {
    const seen = await lookAgain();
    if (!seen.ok) return seen;
    if (seen.value === "settled") return ok(undefined);
    if (look === 0) due = clock() + milliseconds;
    if ("why" in seen.value) return failed(fault("NETLINK_FAILED", `links: ${by}: ${seen.value.why}`));
    const text = linkText(place, name);
    if (clock() >= due)
      return failed(fault("NETLINK_FAILED", `links: ${by}: ${text}: ${seen.value.waitsFor} after ${milliseconds} ms`));
    await new Promise((done) => setTimeout(done, Math.min(pauses[look] ?? lastPause, Math.max(0, due - clock()))));
  }
}

async function lookAt(acting: Acting, link: KnownLink): Promise<Result<Look>> {
  const { place, index } = link;
  const requests = [linkRequest(index), addressesRequest(index)];
  const end = otherEnd(acting, link);
  const there = place === "pod" ? "host" : "pod";
  const [{ answers, errno }, other] = await Promise.all([
    acting.namespaces.exchange(place, requests),
    end === undefined ? undefined : acting.namespaces.exchange(there, [linkRequest(end.index)]),
  ]);
  const [told, addresses] = answers;
  if (told === undefined || addresses === undefined) return failed(acting.namespaces.unreachable(errno));
  const state = stateIn(told);
  const found = addressesOf(addresses, index);
  return ok(verdict(link, state, found, stateIn(other?.answers[0])));
}

function stateIn(answer: NetlinkAnswer | undefined): LinkState | undefined {
  return answer?.messages.flatMap((message) => linkStateIn(message) ?? [])[0];
}

function lookIn(acting: Acting, link: KnownLink, seen: readonly SeenLink[]): Look {
  const { place, index } = link;
  const own = seen.find((each) => each.place === place && each.state.index === index);
  const end = otherEnd(acting, link);
  const other = seen.find((each) => each.place === end?.place && each.state.index === end.index);
  return verdict(link, own?.state, own?.addresses ?? [], other?.state);
}

function verdict(
  { place, name }: KnownLink,
  state: LinkState | undefined,
  addresses: readonly AddressState[],
  other: LinkState | undefined,
): Look {
  if (state === undefined) return { why: `${linkText(place, name)} is gone` };
  const taken = addresses.find(({ dadFailed }) => dadFailed);
  if (taken !== undefined) return { why: `somebody else has ${formatCidr(taken.cidr)} already (duplicate address detection)` };
  if (!state.running) return { waitsFor: "it does not run" };
  if (state.kind === "veth" && other?.running === false && state.link === other.index)
    return { waitsFor: "its other end does not run" };
  const tentative = addresses.find((each) => each.tentative);
  return tentative === undefined ? "settled" : { waitsFor: `${formatCidr(tentative.cidr)} is tentative` };
}

/** Where it is known, which is where it was made by the same call. */
function otherEnd({ links }: Acting, { place, index }: KnownLink): KnownLink | undefined {
  return links
    .all()
    .find((link) => link.place !== place && link.made && link.state?.kind === "veth" && link.state.link === index);
}
