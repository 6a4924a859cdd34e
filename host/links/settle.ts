// `settle`: waits until a link and its addresses may be used.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatCidr } from "../../src/net/ip.ts";
import { addressesRequest, addressStateIn } from "../netlink/address.ts";
import { linkRequest } from "../netlink/link-change.ts";
import { linkStateIn } from "../netlink/link-state.ts";
import type { LinksSettling } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Acting } from "./acting.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";

/** Between looks, in ms: a veth runs within 1.5 ms, duplicate address detection takes a second or two. */
const pauses = [0, 1, 2, 5, 10, 20];
const lastPause = 50;

type Look = "settled" | { readonly waitsFor: string } | { readonly why: string };

export async function settle(
  acting: Acting,
  { link: named, milliseconds }: LinksSettling,
  clock: () => number,
): Promise<Result<void>> {
  const link = acting.link(named);
  if (!link.ok) return link;
  if (!(await acting.transaction.flush())) return acting.failed();
  const due = clock() + milliseconds;
  for (let look = 0; ; look++) {
    const seen = await lookAt(acting, link.value);
    if (!seen.ok) return seen;
    if (seen.value === "settled") return ok(undefined);
    const text = linkText(named.place, named.name);
    if ("why" in seen.value) return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${seen.value.why}`));
    if (clock() >= due)
      return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${text}: ${seen.value.waitsFor} after ${milliseconds} ms`));
    await new Promise((done) => setTimeout(done, Math.min(pauses[look] ?? lastPause, Math.max(0, due - clock()))));
  }
}

async function lookAt(acting: Acting, link: KnownLink): Promise<Result<Look>> {
  const { place, index, name } = link;
  const requests = [linkRequest(index), addressesRequest(index)];
  const { answers, errno } = await acting.namespaces.exchange(place, requests);
  const [told, addresses] = answers;
  if (told === undefined || addresses === undefined) return failed(acting.namespaces.unreachable(errno));
  const [state] = told.messages.flatMap((message) => linkStateIn(message) ?? []);
  if (state === undefined) return ok({ why: `${linkText(place, name)} is gone` });
  const found = addresses.messages.flatMap((message) => addressStateIn(message) ?? []).filter((each) => each.link === index);
  const taken = found.find(({ dadFailed }) => dadFailed);
  if (taken !== undefined)
    return ok({ why: `somebody else has ${formatCidr(taken.cidr)} already (duplicate address detection)` });
  if (!state.running) return ok({ waitsFor: "it does not run" });
  const other = state.kind === "veth" && state.link !== undefined ? await otherEndRuns(acting, link, state.link) : true;
  if (!other) return ok({ waitsFor: "its other end does not run" });
  const tentative = found.find((each) => each.tentative);
  return ok(tentative === undefined ? "settled" : { waitsFor: `${formatCidr(tentative.cidr)} is tentative` });
}

/** Where it is known, which is where it was made by the same call. */
async function otherEndRuns({ links, namespaces }: Acting, { place, index }: KnownLink, other: number): Promise<boolean> {
  const there = place === "pod" ? "host" : "pod";
  const end = links.all().find((link) => link.place === there && link.index === other && link.made);
  if (end === undefined || (end.state !== undefined && end.state.link !== index)) return true;
  const [told] = (await namespaces.exchange(there, [linkRequest(other)])).answers;
  return told?.messages.flatMap((message) => linkStateIn(message) ?? [])[0]?.running ?? true;
}
