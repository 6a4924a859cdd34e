// An attachment's rules: put in force in place of what there was, compared, removed. Each change is one batch of nftables: all of it comes
// into force at once, or nothing does. What else is on the node, other tables and other attachments', is not touched.

import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { forgetFlows } from "./conntrack.ts";
import { addressIn, decide, sameExpressions, type Verdict } from "./expressions.ts";
import { type InForce, readElements, readInForce, readRules, readWays } from "./in-force.ts";
import { ask, type Asks, type Change, commit, errno, failure, refusalFault, type Refusal } from "./kernel.ts";
import { overflow, scaffold } from "./layout.ts";
import { leadLocalhostOut } from "./localhost.ts";
import {
  chainIn,
  chainsRequest,
  deleteChain,
  deleteElement,
  deleteRules,
  generationRequest,
  type IpPlace,
  newChain,
  newElement,
  newRule,
  type Place,
  TABLE,
} from "./nf-tables.ts";
import { attachmentPart, chainName, type Owner, ownerInWords, prefixOf, purposes } from "./owner.ts";
import { chainRules, entries, type Entry, ofFamily, portPart, type Rules } from "./rules.ts";

const families = [4, 6] as const;

/** How often a change is tried anew where somebody else's came between. */
const tries = 8;

/** A change that puts an element into a map. */
interface Entering extends Change {
  readonly entry: Entry;
  readonly family: 4 | 6;
}

/** Puts these rules in force, in place of what there was. Where 127.0.0.1 can't be led out, none is in force then. */
export async function replace(hands: Asks, owner: Owner, rules: Rules): Promise<Result<undefined>> {
  const done = await change(hands, owner, rules);
  if (!done.ok) return done;
  // After the rules, of which one keeps neighbours from 127.0.0.1.
  const localhost = await leadLocalhostOut(hands, rules.portMappings);
  if (!localhost.ok) {
    const removed = await remove(hands, owner);
    const left = removed.ok ? "" : `; nor could the rules be removed again: ${removed.fault.msg}`;
    return failed({ ...localhost.fault, msg: `${localhost.fault.msg}${left}` });
  }
  await forgetFlows(hands, rules.portMappings);
  return ok(undefined);
}

/** Removes the attachment's rules. None is no fault. */
export function remove(hands: Asks, owner: Owner): Promise<Result<undefined>> {
  return change(hands, owner, { masquerades: [], portMappings: [] });
}

async function change(hands: Asks, owner: Owner, rules: Rules): Promise<Result<undefined>> {
  /** Addresses that another attachment has in the map. */
  const crowded = new Set<string>();
  let last: Refusal | undefined;
  for (let attempt = 0; attempt < tries; attempt++) {
    const before = await readInForce(hands, owner, attempt === 0 ? "quickly" : "wholly");
    if (!before.ok) return before;
    const changes = before.value.flatMap((inForce) => changesOf(inForce, owner, ofFamily(rules, inForce.family), crowded));
    if (changes.length === 0) return ok(undefined);
    const refused = await commit(hands, changes);
    if (!refused.ok) return refused;
    const [first] = refused.value;
    if (first === undefined) return ok(undefined);
    last = first;
    const taken = refused.value.filter(isTaken);
    for (const { change: entering } of taken) {
      const { entry, family } = entering;
      if (entry.map === "answers" || entry.map === "sources") crowded.add(crowdedKey(family, entry));
      else {
        const holder = await holderOf(hands, { family }, entry);
        if (!holder.ok) return holder;
        if (holder.value !== undefined) return failed(portTaken(entry.what, holder.value));
      }
    }
    if (taken.length === 0 && !isOvertaken(first)) return failed(refusalFault(first));
  }
  return failed(last === undefined ? failure("changing the rules", "no try succeeded") : refusalFault(last));
}

function isTaken(refusal: Refusal): refusal is Refusal & { readonly change: Entering } {
  return refusal.errno === errno.EEXIST && refusal.change !== undefined && "entry" in refusal.change;
}

/** Whether it may be so only because something was changed between our reading and our writing. */
function isOvertaken({ errno: number, change: at }: Refusal): boolean {
  if (number === errno.EINTR || number === errno.ERESTART || number === errno.EBUSY) return true;
  // A chain of the same name that wasn't there, or something to be removed that is gone.
  return at?.overtaken === number;
}

function crowdedKey(family: 4 | 6, { map, key }: Pick<Entry, "map" | "key">): string {
  return `${family} ${map} ${key.join(".")}`;
}

/** What has to change in one family. */
function changesOf(inForce: InForce, owner: Owner, rules: Rules, crowded: ReadonlySet<string>): readonly Change[] {
  const { family, layout } = inForce;
  const place = { family };
  const wanted = chainRules(rules, (entry) => crowded.has(crowdedKey(family, entry)));
  const of = `${owner.containerId}/${owner.ifname}`;
  const layoutChanges =
    wanted.size === 0 || layout
      ? []
      : scaffold(place).map((request) => ({
          request,
          what: `making the table ${TABLE} of IPv${family}`,
          overtaken: errno.EEXIST,
        }));
  const chains = [...wanted].flatMap(([purpose, chain]): Change[] => {
    const name = chainName(purpose, owner);
    const what = `making the rules of ${of} (${purpose})`;
    return [
      { request: newChain(place, name), what, overtaken: errno.EEXIST },
      ...chain.map(({ expressions, comment }) => ({ request: newRule(place, name, expressions, comment), what })),
    ];
  });
  const ways = marked(entries(rules)).flatMap((entry) => enter(place, owner, entry, crowded));
  return [...layoutChanges, ...removal(inForce, owner), ...chains, ...ways];
}

/** Removes an attachment's chains and all that leads to them. */
function removal({ family, chains, entries: ways, jumps, idleMarks }: InForce, owner: Owner): readonly Change[] {
  const place = { family };
  const names = [...chains].map((purpose) => chainName(purpose, owner));
  const requests = [
    ...ways.map(({ map, key }) => deleteElement(place, map, key)),
    ...idleMarks.map((key) => deleteElement(place, "hostports", key)),
    ...jumps.map(({ chain, handle }) => deleteRules(place, chain, handle)),
    ...names.map((name) => deleteRules(place, name)),
    ...names.map((name) => deleteChain(place, name)),
  ];
  const what = `removing the rules of ${owner.containerId}/${owner.ifname}`;
  return requests.map((request) => ({ request, what, overtaken: errno.ENOENT }));
}

/**
 * With a mark for each port that is mapped at some address of the node, and not at any besides: it keeps others from mapping the port at
 * any address. A mark like it is no error to the kernel, an element that leads to a chain is.
 */
function marked(all: readonly Entry[]): readonly Entry[] {
  const anywhere = new Set(all.filter(({ map }) => map === "hostports").map(({ key }) => key.join(".")));
  const marks = all
    .filter(({ map, key }) => map === "hostports-at" && !anywhere.has(portPart(key).join(".")))
    .map((entry): Entry => ({ ...entry, map: "hostports", key: portPart(entry.key), purpose: undefined }));
  return [...all, ...marks];
}

/** Leads to a chain. */
function enter(place: IpPlace, owner: Owner, entry: Entry, crowded: ReadonlySet<string>): readonly Change[] {
  const what = `leading ${entry.what} to the rules of ${owner.containerId}/${owner.ifname}`;
  const verdict: Verdict =
    entry.purpose === undefined ? { kind: "return" } : { kind: "jump", chain: chainName(entry.purpose, owner) };
  const { map, key, address } = entry;
  if ((map === "answers" || map === "sources") && address !== undefined && crowded.has(crowdedKey(place.family, entry))) {
    const which = map === "answers" ? "destination" : "source";
    return [{ request: newRule(place, overflow[map], [...addressIn(which, "is", address), decide(verdict)]), what }];
  }
  const entering: Entering = { request: newElement(place, { map, key, verdict }), what, entry, family: place.family };
  return [entering];
}

/** The chain that has a port, or any chain that has the port at some address. Undefined: it is free meanwhile. */
async function holderOf(hands: Asks, place: Place, { map, key }: Entry): Promise<Result<string | undefined>> {
  const element = await readElements(hands, place, map, key);
  if (!element.ok) return element;
  const [found] = element.value;
  if (found?.chain !== undefined || found === undefined) return ok(found?.chain);
  const atAddresses = await readElements(hands, place, "hostports-at");
  if (!atAddresses.ok) return atAddresses;
  return ok(atAddresses.value.find((each) => Buffer.compare(portPart(each.key), key) === 0)?.chain);
}

function portTaken(port: string, chain: string): Fault {
  return fault("HOST_PORT_TAKEN", `firewall: ${port} is mapped already, to ${ownerInWords(chain)}`);
}

/** Whether exactly these rules are in force, and packets come to them. */
export async function check(hands: Asks, owner: Owner, rules: Rules): Promise<Result<boolean>> {
  const all = await readInForce(hands, owner, "wholly");
  if (!all.ok) return all;
  for (const inForce of all.value) {
    const same = await isInForce(hands, owner, inForce, ofFamily(rules, inForce.family));
    if (!same.ok || !same.value) return same;
  }
  return ok(true);
}

async function isInForce(hands: Asks, owner: Owner, inForce: InForce, rules: Rules): Promise<Result<boolean>> {
  const wanted = chainRules(rules);
  if (wanted.size !== inForce.chains.size || (wanted.size > 0 && !inForce.layout)) return ok(false);
  for (const [purpose, asked] of wanted) {
    const read = await readRules(hands, { family: inForce.family }, chainName(purpose, owner));
    if (!read.ok) return read;
    const same = read.value.every(({ expressions }, index) => sameExpressions(asked[index]?.expressions ?? [], expressions));
    if (!same || read.value.length !== asked.length) return ok(false);
  }
  const there = new Set(inForce.entries.map(({ map, key }) => `${map} ${key.join(".")}`));
  const missing = entries(rules).filter(({ map, key }) => !there.has(`${map} ${key.join(".")}`));
  return ok(missing.length === inForce.jumps.length && missing.every(({ purpose }) => purpose !== "ports"));
}

/** Removes the rules of this delegate and network for whatever is not in `valid`; answers of how many attachments. */
export async function retain(
  hands: Asks,
  of: Pick<Owner, "type" | "network">,
  valid: readonly Pick<Owner, "containerId" | "ifname">[],
): Promise<Result<ReadonlySet<string>>> {
  const kept = new Set(valid.map(attachmentPart));
  const removed = new Set<string>();
  for (const family of families) {
    const stale = await staleChains(hands, { family }, of, kept);
    if (!stale.ok) return stale;
    if (stale.value.length === 0) continue;
    const names = stale.value.map(({ name }) => name);
    const ways = await readWays(hands, { family }, new Set(names));
    if (!ways.ok) return ways;
    const place = { family };
    const requests = [
      ...ways.value.entries.map(({ map, key }) => deleteElement(place, map, key)),
      ...ways.value.idleMarks.map((key) => deleteElement(place, "hostports", key)),
      ...ways.value.jumps.map(({ chain, handle }) => deleteRules(place, chain, handle)),
      ...names.flatMap((name) => [deleteRules(place, name), deleteChain(place, name)]),
    ];
    const what = `removing the rules of what is not attached to ${of.network} any more`;
    const refused = await commit(
      hands,
      requests.map((request) => ({ request, what })),
    );
    if (!refused.ok) return refused;
    const [first] = refused.value;
    if (first !== undefined) return failed(refusalFault(first));
    for (const { attachment } of stale.value) removed.add(attachment);
  }
  return ok(removed);
}

async function staleChains(
  hands: Asks,
  place: Place,
  of: Pick<Owner, "type" | "network">,
  kept: ReadonlySet<string>,
): Promise<Result<readonly { readonly name: string; readonly attachment: string }[]>> {
  const answers = await ask(hands, [chainsRequest(place)], "listing the chains");
  if (!answers.ok) return answers;
  const chains = answers.value.flatMap(({ messages }) => messages.flatMap((message) => chainIn(message) ?? []));
  const prefixes = purposes.map((purpose) => prefixOf(purpose, of));
  return ok(
    chains.flatMap(({ table, name }) => {
      const prefix = table === TABLE ? prefixes.find((each) => name.startsWith(each)) : undefined;
      const attachment = prefix === undefined ? undefined : name.slice(prefix.length);
      return attachment === undefined || kept.has(attachment) ? [] : [{ name, attachment }];
    }),
  );
}

/** Whether rules could be made now: all that is needed is tried and not put in force. */
export async function probe(hands: Asks): Promise<Result<undefined>> {
  const there = await ask(hands, [generationRequest()], "asking for nftables");
  if (!there.ok) return there;
  const changes = scaffold({ family: 4 }).map((request) => ({ request, what: `making the table ${TABLE} of IPv4` }));
  const refused = await commit(hands, changes, "try");
  if (!refused.ok) return refused;
  const [first] = refused.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}
