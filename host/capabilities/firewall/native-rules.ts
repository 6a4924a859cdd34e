// What the reference plugins left for an attachment in nftables, by iptables (its nft variant) or by their own tables: `bridge` and `ptp` for
// masquerading, `portmap` for host ports. A DEL of ours takes it away, as theirs would. Rules of the old iptables (legacy) are not nftables',
// and stay.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { chainOfJump } from "./expressions.ts";
import { readRules } from "./in-force.ts";
import { ask, type Asks, type Change, commit, errno, refusalFault } from "./kernel.ts";
import { chainIn, chainsRequest, deleteChain, deleteRules, type Place } from "./nf-tables.ts";
import type { Owner } from "./owner.ts";
import { sha512 } from "./sha512.ts";

/** Of iptables: the length of the chains' names that the reference makes up, and who jumps to which of them. */
const NAME_LENGTH = 28;
const NAT = "nat";

/** A chain of the reference's for one attachment, and the chain from which packets come to it. */
interface NativeChain {
  readonly prefix: string;
  readonly from: string;
}

const masquerading: NativeChain = { prefix: "CNI-", from: "POSTROUTING" };
const ports: readonly NativeChain[] = [
  { prefix: "CNI-DN-", from: "CNI-HOSTPORT-DNAT" },
  { prefix: "CNI-SN-", from: "CNI-HOSTPORT-SNAT" },
];

/** Removes what the reference plugins have of this attachment, as far as the grant would let the delegate make the like. */
export async function removeNative(
  hands: Asks,
  owner: Owner,
  grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined },
): Promise<Result<undefined>> {
  const kinds = [...(grant.masquerade === true ? [masquerading] : []), ...((grant.hostPorts ?? []).length > 0 ? ports : [])];
  const places = ([4, 6] as const).map((family): Place => ({ family, table: NAT }));
  const origins = places.flatMap((place) => kinds.map(({ prefix, from }) => ({ place, prefix, from })));
  const used = await there(
    hands,
    origins.map(({ place, from }) => ({ place, name: from })),
  );
  if (!used.ok) return used;
  const candidates = origins.filter((_, index) => used.value[index]);
  if (candidates.length === 0) return ok(undefined);
  const hash = sha512(owner.network + owner.containerId);
  const named = candidates.map(({ prefix, ...rest }) => ({ ...rest, name: `${prefix}${hash}`.slice(0, NAME_LENGTH) }));
  const found = await there(hands, named);
  if (!found.ok) return found;
  for (const chain of named.filter((_, index) => found.value[index])) {
    const removed = await removeChain(hands, chain);
    if (!removed.ok) return removed;
  }
  return ok(undefined);
}

/** Which of these chains are there. */
async function there(
  hands: Asks,
  chains: readonly { readonly place: Place; readonly name: string }[],
): Promise<Result<readonly boolean[]>> {
  if (chains.length === 0) return ok([]);
  const requests = chains.map(({ place, name }) => chainsRequest(place, name));
  const answers = await ask(hands, requests, "looking for the reference plugins' chains");
  if (!answers.ok) return answers;
  return ok(answers.value.map(({ messages }) => messages.some((message) => chainIn(message) !== undefined)));
}

async function removeChain(
  hands: Asks,
  { place, from, name }: { readonly place: Place; readonly from: string; readonly name: string },
): Promise<Result<undefined>> {
  const rules = await readRules(hands, place, from);
  if (!rules.ok) return rules;
  const jumps = rules.value.filter(({ expressions }) => expressions.some((each) => chainOfJump(each) === name));
  const requests = [
    ...jumps.map(({ handle }) => deleteRules(place, from, handle)),
    deleteRules(place, name),
    deleteChain(place, name),
  ];
  const changes = requests.map((request): Change => ({ request, what: `removing the reference plugins' chain ${name}` }));
  const refused = await commit(hands, changes);
  if (!refused.ok) return refused;
  // Somebody else removed it meanwhile.
  const [first] = refused.value;
  return first === undefined || first.errno === errno.ENOENT ? ok(undefined) : failed(refusalFault(first));
}
