// Binds the capability `announce` to one call: neighbours are told where the attachment's own addresses are now. What a delegate asks beyond
// that is refused here, before anything is sent.

import type { Verb } from "../../src/cni/environment.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { formatAddress, type IpAddress, readAddress } from "../../src/net/ip.ts";
import type { Hands } from "../hands/hands.ts";
import { unreachable } from "../hands/unreachable.ts";
import { systemError } from "../netlink/system-error.ts";
import type { Fault as WitFault } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";
import { type OwnLink, seeOwnLink, type Unseen } from "./own-link.ts";
import { announcement } from "./packets.ts";

export interface AnnounceScope {
  readonly verb: Verb;
  /** Undefined where the call is about none (GC, STATUS). */
  readonly attachment: { readonly ifname: string } | undefined;
  /** Path of the pod's network namespace; empty: there is none (any more). */
  readonly netns: string;
  /** How long at most to wait until the interface carries packets and its addresses may be used, in ms. */
  readonly waitMs?: number | undefined;
}

export interface AnnounceImports {
  readonly send: (addresses: readonly string[]) => Promise<Outcome<undefined, WitFault>>;
}

/** As many packets as the hands send at once. */
const mostAddresses = 64;
/** A veth runs within 1.5 ms; duplicate address detection, which takes a second or two, is to be waited for where addresses are added. */
const defaultWaitMs = 500;
/** Between looks, in ms. */
const pauses = [0, 1, 2, 5, 10];
const lastPause = 20;
const EAGAIN = 11;

/** The capability as the delegate of this one call gets it. `clock`: milliseconds that never go back. */
export function announceFor(
  scope: AnnounceScope,
  hands: Pick<Hands, "netlink" | "packet">,
  clock: () => number,
): AnnounceImports {
  return {
    send: async (addresses) => {
      const sent = await send(scope, hands, clock, addresses);
      if (sent.ok) return { ok: undefined };
      const { code, msg, details } = sent.fault;
      return { err: { code, msg, details } };
    },
  };
}

async function send(
  { verb, attachment, netns, waitMs = defaultWaitMs }: AnnounceScope,
  hands: Pick<Hands, "netlink" | "packet">,
  clock: () => number,
  texts: readonly string[],
): Promise<Result<void>> {
  if (verb !== "ADD" || attachment === undefined)
    return failed(misused(`${verb} has nothing to tell the neighbours, only ADD has`));
  if (texts.length > mostAddresses)
    return failed(misused(`${texts.length} addresses at once, at most ${mostAddresses} are taken`));
  const addresses: IpAddress[] = [];
  for (const text of texts) {
    const address = readAddress(text);
    if (address === undefined) return failed(misused(`${quote(text)} is no IP address`));
    addresses.push(address);
  }
  if (netns === "") return failed(unreachable("NETLINK_FAILED", "announce", "", 0));
  if (addresses.length === 0) return ok(undefined);
  const due = clock() + waitMs;
  for (let look = 0; ; look++) {
    const seen = judge(await seeOwnLink(hands, netns, attachment.ifname), attachment.ifname, netns, addresses);
    if ("link" in seen) return announce(hands, netns, seen.link, addresses);
    if ("never" in seen) return failed(seen.never);
    const why = `announce: ${attachment.ifname} ${seen.notYet} after ${waitMs} ms`;
    if (clock() >= due) return failed(fault("NETLINK_FAILED", why));
    await new Promise((done) => setTimeout(done, Math.min(pauses[look] ?? lastPause, Math.max(0, due - clock()))));
  }
}

type Look = { readonly link: OwnLink } | { readonly notYet: string } | { readonly never: Fault };

/** Whether the addresses can be announced now. */
function judge(seen: OwnLink | Unseen, ifname: string, netns: string, addresses: readonly IpAddress[]): Look {
  if (!("index" in seen)) {
    const { errno, words, entered } = seen;
    if (errno === EAGAIN && entered) return { notYet: "was being changed each time" };
    if (!entered) return { never: unreachable("NETLINK_FAILED", "announce", netns, errno) };
    const reason = `${systemError(errno)}${words === "" ? "" : `: ${words}`}`;
    return {
      never: fault("NETLINK_FAILED", `announce: ${quote(ifname)} in the pod's network namespace ${quote(netns)}: ${reason}`),
    };
  }
  for (const address of addresses) {
    const text = formatAddress(address);
    const own = seen.addresses.get(text);
    if (own === undefined) return { never: misused(`${text} is no address of ${ifname}, and no other one is announced`) };
    if (own.dadFailed)
      return { never: fault("NETLINK_FAILED", `announce: somebody else has ${text} already (duplicate address detection)`) };
    if (own.tentative) return { notYet: `has ${text} only tentatively` };
  }
  return seen.running || seen.mac === undefined ? { link: seen } : { notYet: "does not run" };
}

async function announce(
  hands: Pick<Hands, "packet">,
  netns: string,
  { index, mac, router }: OwnLink,
  addresses: readonly IpAddress[],
): Promise<Result<void>> {
  if (mac === undefined) return ok(undefined); // nobody asks for its hardware address
  const packets = addresses.map((address) => announcement(address, mac, router));
  const { errno } = await hands.packet({ path: netns, index, packets });
  return errno === 0 ? ok(undefined) : failed(fault("NETLINK_FAILED", `announce: sending: ${systemError(errno)}`));
}

function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `announce: ${what}`);
}
