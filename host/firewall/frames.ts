// Guards: what comes by the node's end of an attachment's veth must have the pod's MAC as its source. In the table `bridge plexus` a map leads
// from the link's name to the attachment's chain, so that the number of attachments costs nothing.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { decide, lookUpLink, sameExpressions, sourceMacIsNot } from "./expressions.ts";
import { readElements, readRules } from "./in-force.ts";
import { ask, type Asks, type Change, commit, errno, failure, refusalFault } from "./kernel.ts";
import {
  chainIn,
  chainsRequest,
  deleteChain,
  deleteElement,
  deleteRules,
  newChain,
  newElement,
  newMap,
  newRule,
  newTable,
  type Place,
  TABLE,
  type VerdictMap,
} from "./nf-tables.ts";
import { attachmentPart, chainName, type Owner, prefixOf } from "./owner.ts";

const place: Place = { family: "bridge" };
/** nft's number of the type ifname: 41. */
const links: VerdictMap = { name: "links", types: [41], keySize: 16 };
const base = "prerouting";
/** Before everything else: that of the reference plugin. */
const hook = { type: "filter", hook: "prerouting", priority: -300 } as const;
/** What the kernel answers where there is no such table, or no such family. */
const nothing: readonly number[] = [errno.ENOENT, errno.EOPNOTSUPP, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT];

/** A frame that comes by a link, and the only source that it may have. */
export interface Guard {
  readonly link: string;
  readonly mac: string;
}

/** Puts the guard in force, in place of the attachment's earlier one. */
export async function guardFrames(hands: Asks, owner: Owner, { link, mac }: Guard): Promise<Result<undefined>> {
  const before = await guards(hands, new Set([chainOf(owner)]));
  if (!before.ok) return before;
  const chain = chainOf(owner);
  const requests = [
    newTable(place),
    newMap(place, links, 1),
    newChain(place, base, { hook }),
    deleteRules(place, base),
    newRule(place, base, lookUpLink(links.name)),
    ...before.value.map((key) => deleteElement(place, links.name, key)),
    newChain(place, chain, { shared: true }),
    deleteRules(place, chain),
    newRule(place, chain, rule(mac), `${link} ${mac}`),
    newElement(place, { map: links.name, key: keyOf(link), verdict: { kind: "jump", chain } }),
  ];
  return change(hands, requests, `guarding the frames that come by ${link}`);
}

/** Whether this guard is in force. */
export async function framesGuarded(hands: Asks, owner: Owner, { link, mac }: Guard): Promise<Result<boolean>> {
  const chain = chainOf(owner);
  const there = await chains(hands, [base, chain]);
  if (!there.ok) return there;
  if (there.value[0]?.hooked !== true || there.value[1] === undefined) return ok(false);
  const [ways, looks, rules] = [
    await readElements(hands, place, links.name, keyOf(link)),
    await readRules(hands, place, base),
    await readRules(hands, place, chain),
  ];
  if (!ways.ok) return ways;
  if (!looks.ok) return looks;
  if (!rules.ok) return rules;
  const [first] = rules.value;
  const isLedThere = ways.value[0]?.chain === chain && looks.value.length === 1;
  return ok(isLedThere && rules.value.length === 1 && first !== undefined && sameExpressions(rule(mac), first.expressions));
}

/** Removes the attachment's guard. None is no fault. */
export async function unguardFrames(hands: Asks, owner: Owner): Promise<Result<undefined>> {
  const chain = chainOf(owner);
  const there = await chains(hands, [chain]);
  if (!there.ok) return there;
  return there.value[0] === undefined ? ok(undefined) : removeChains(hands, [chain], `${owner.containerId}/${owner.ifname}`);
}

/** Removes the guards of a delegate and network for whatever is not in `valid`; answers the attachments' parts of the chains' names. */
export async function retainGuards(
  hands: Asks,
  of: Pick<Owner, "type" | "network">,
  valid: readonly Pick<Owner, "containerId" | "ifname">[],
): Promise<Result<readonly string[]>> {
  const answers = await ask(hands, [chainsRequest(place)], "listing the chains of bridges");
  if (!answers.ok) return answers;
  const [answer] = answers.value;
  if (answer !== undefined && answer.errno !== 0)
    return nothing.includes(answer.errno) ? ok([]) : failed(failure("listing the chains of bridges", `errno ${answer.errno}`));
  const prefix = prefixOf("source", of);
  const kept = new Set(valid.map(attachmentPart));
  const stale = (answer?.messages ?? [])
    .flatMap((message) => chainIn(message) ?? [])
    .filter(({ table, name }) => table === TABLE && name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length))
    .filter((part) => !kept.has(part));
  if (stale.length === 0) return ok([]);
  const removed = await removeChains(
    hands,
    stale.map((part) => `${prefix}${part}`),
    `what is not attached to ${of.network} any more`,
  );
  return removed.ok ? ok(stale) : removed;
}

function chainOf(owner: Owner): string {
  return chainName("source", owner);
}

function rule(mac: string): ReturnType<typeof sourceMacIsNot> {
  const bytes = Uint8Array.from(mac.split(":"), (part) => Number.parseInt(part, 16));
  return [...sourceMacIsNot(bytes), decide({ kind: "drop" })];
}

/** A name as the kernel compares it: with zeros behind. */
function keyOf(link: string): Uint8Array {
  const key = new Uint8Array(links.keySize);
  new TextEncoder().encodeInto(link, key.subarray(0, links.keySize - 1));
  return key;
}

/** The chains of these names that are there. */
async function chains(
  hands: Asks,
  names: readonly string[],
): Promise<Result<readonly (ReturnType<typeof chainIn> | undefined)[]>> {
  const what = "looking for chains of bridges";
  const answers = await ask(
    hands,
    names.map((name) => chainsRequest(place, name)),
    what,
  );
  if (!answers.ok) return answers;
  const wrong = answers.value.find((answer) => answer.errno !== 0 && !nothing.includes(answer.errno));
  if (wrong !== undefined) return failed(failure(what, `errno ${wrong.errno}: ${wrong.words}`));
  return ok(answers.value.map(({ messages }) => messages.flatMap((message) => chainIn(message) ?? [])[0]));
}

/** The keys of the map that lead to these chains. */
async function guards(hands: Asks, names: ReadonlySet<string>): Promise<Result<readonly Uint8Array[]>> {
  const there = await chains(hands, [...names]);
  if (!there.ok) return there;
  if (there.value.every((chain) => chain === undefined)) return ok([]);
  const elements = await readElements(hands, place, links.name);
  if (!elements.ok) return elements;
  return ok(elements.value.filter(({ chain }) => chain !== undefined && names.has(chain)).map(({ key }) => key));
}

async function removeChains(hands: Asks, names: readonly string[], whose: string): Promise<Result<undefined>> {
  const keys = await guards(hands, new Set(names));
  if (!keys.ok) return keys;
  const requests = [
    ...keys.value.map((key) => deleteElement(place, links.name, key)),
    ...names.flatMap((name) => [deleteRules(place, name), deleteChain(place, name)]),
  ];
  return change(hands, requests, `removing the guard of ${whose}`);
}

async function change(hands: Asks, requests: readonly Change["request"][], what: string): Promise<Result<undefined>> {
  const refused = await commit(
    hands,
    requests.map((request) => ({ request, what })),
  );
  if (!refused.ok) return refused;
  const [first] = refused.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}
