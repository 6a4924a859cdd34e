// What of an attachment is in force: read before it is changed, removed or compared.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { NetlinkAnswer } from "../netlink/message.ts";
import type { Expression } from "./expressions.ts";
import { chainOfJump } from "./expressions.ts";
import { ask, type Asks, errno, failure, systemError } from "./kernel.ts";
import { landmarks, overflow } from "./layout.ts";
import {
  chainIn,
  chainsRequest,
  elementsIn,
  elementsRequest,
  type Place,
  type ReadElement,
  type ReadRule,
  ruleIn,
  rulesRequest,
} from "./nf-tables.ts";
import { chainName, type Owner, type Purpose, purposes } from "./owner.ts";
import { entries, type Entry, type Masquerade, mappingIn, masqueradeIn, type PortMapping, portPart } from "./rules.ts";

/** One family's. */
export interface InForce {
  readonly family: 4 | 6;
  /** Whether the chains and maps of all attachments are there, whole. */
  readonly layout: boolean;
  /** The attachment's chains that are there. */
  readonly chains: ReadonlySet<Purpose>;
  /** What leads to its chains. */
  readonly entries: readonly Pick<Entry, "map" | "key">[];
  /** Rules of the overflow chains that lead to its chains. */
  readonly jumps: readonly { readonly chain: string; readonly handle: Uint8Array }[];
  /** Elements that only say that a port is in use at some address, and that nobody else needs. */
  readonly idleMarks: readonly Uint8Array[];
}

const maps: readonly Entry["map"][] = ["hostports", "hostports-at", "answers", "sources"];

/**
 * What is in force of an attachment in both families. `quickly`: what leads to its chains is taken from what its own rules say, where they
 * can say it; that holds unless somebody changed the tables by hand. Else all attachments' maps are read.
 */
export async function readInForce(hands: Asks, owner: Owner, how: "quickly" | "wholly"): Promise<Result<readonly InForce[]>> {
  const places = [4, 6] as const;
  const named = places.flatMap((family) =>
    [...landmarks(family).keys(), ...purposes.map((purpose) => chainName(purpose, owner))].map((name) => ({ family, name })),
  );
  const answers = await ask(
    hands,
    named.map(({ family, name }) => chainsRequest({ family }, name)),
    "looking for chains",
  );
  if (!answers.ok) return answers;
  const wrong = answers.value.find((answer) => answer.errno !== 0 && answer.errno !== errno.ENOENT);
  if (wrong !== undefined) return failed(failure("looking for chains", reason(wrong)));
  const found = answers.value.map(({ messages }) => messages.flatMap((message) => chainIn(message) ?? [])[0]);
  const all = await Promise.all(
    places.map(async (family): Promise<Result<InForce>> => {
      const own = named.flatMap(({ name, family: of }, index) => (of === family ? [[name, found[index]] as const] : []));
      const there = new Map(own);
      const layout = [...landmarks(family)].every(([name, { uses, hooked }]) => {
        const chain = there.get(name);
        return chain?.uses === uses && chain.hooked === hooked;
      });
      const chains = purposes.filter((purpose) => there.get(chainName(purpose, owner)) !== undefined);
      const names = new Set(chains.map((purpose) => chainName(purpose, owner)));
      const told = how === "quickly" ? await waysInRules(hands, { family }, owner, chains) : ok(undefined);
      if (!told.ok) return told;
      const ways = told.value === undefined ? await readWays(hands, { family }, names) : ok(told.value);
      return ways.ok ? ok({ family, layout, chains: new Set(chains), ...ways.value }) : ways;
    }),
  );
  const [four, six] = all;
  if (four?.ok !== true) return four ?? ok([]);
  return six?.ok === true ? ok([four.value, six.value]) : (six ?? ok([]));
}

/** What leads to the chains as their rules say it; undefined where the maps must be read. */
async function waysInRules(
  hands: Asks,
  place: Place,
  owner: Owner,
  chains: readonly Purpose[],
): Promise<Result<Ways | undefined>> {
  const said: { masquerades: Masquerade[]; portMappings: PortMapping[] } = { masquerades: [], portMappings: [] };
  for (const purpose of chains) {
    if (purpose === "answers") continue; // of the same mappings as `ports`
    const rules = await readRules(hands, place, chainName(purpose, owner));
    if (!rules.ok) return rules;
    for (const { comment } of rules.value) {
      const [mapping, masquerade] = purpose === "ports" ? [mappingIn(comment), undefined] : [undefined, masqueradeIn(comment)];
      if (mapping !== undefined) said.portMappings.push(mapping);
      else if (masquerade !== undefined) said.masquerades.push(masquerade);
      else return ok(undefined);
    }
  }
  const partly = chains.includes("answers") && !chains.includes("ports");
  if (partly || said.portMappings.some(({ hostAddress }) => hostAddress !== undefined)) return ok(undefined);
  return ok({ ...none, entries: entries(said) });
}

type Ways = Pick<InForce, "entries" | "jumps" | "idleMarks">;

const none: Ways = { entries: [], jumps: [], idleMarks: [] };

/** All ways that lead to these chains. */
export async function readWays(hands: Asks, place: Place, chains: ReadonlySet<string>): Promise<Result<Ways>> {
  if (chains.size === 0) return ok(none);
  const leading: Pick<Entry, "map" | "key">[] = [];
  const marks: Uint8Array[] = [];
  const busy = new Set<string>();
  const freed: Uint8Array[] = [];
  for (const map of maps) {
    const elements = await readElements(hands, place, map);
    if (!elements.ok) return elements;
    for (const { key, chain } of elements.value) {
      const own = chain !== undefined && chains.has(chain);
      if (own) leading.push({ map, key });
      if (chain === undefined) marks.push(key);
      else if (map === "hostports-at") {
        if (own) freed.push(portPart(key));
        else busy.add(portPart(key).join("."));
      }
    }
  }
  const jumps: { chain: string; handle: Uint8Array }[] = [];
  for (const chain of Object.values(overflow)) {
    const rules = await readRules(hands, place, chain);
    if (!rules.ok) return rules;
    for (const { handle, expressions } of rules.value) if (leadsTo(expressions, chains)) jumps.push({ chain, handle });
  }
  const ended = new Set(freed.map((key) => key.join(".")));
  const idleMarks = marks.filter((key) => ended.has(key.join(".")) && !busy.has(key.join(".")));
  return ok({ entries: leading, jumps, idleMarks });
}

function leadsTo(expressions: readonly Expression[], chains: ReadonlySet<string>): boolean {
  return expressions.some((expression) => chains.has(chainOfJump(expression) ?? ""));
}

/** The elements of a map; of one key where it is named. None where there is no such map or element. */
export async function readElements(
  hands: Asks,
  place: Place,
  map: string,
  key?: Uint8Array,
): Promise<Result<readonly ReadElement[]>> {
  const what = `reading the map ${map}`;
  const answers = await ask(hands, [elementsRequest(place, map, key)], what);
  return answers.ok ? contents(answers.value, what, elementsIn) : answers;
}

/** The rules of a chain, in order. None where there is no such chain. */
export async function readRules(hands: Asks, place: Place, chain: string): Promise<Result<readonly ReadRule[]>> {
  const what = `reading the chain ${chain}`;
  const answers = await ask(hands, [rulesRequest(place, chain)], what);
  return answers.ok ? contents(answers.value, what, (message) => ruleIn(message) ?? []) : answers;
}

type Message = NetlinkAnswer["messages"][number];

function contents<T>(
  [answer]: readonly NetlinkAnswer[],
  what: string,
  read: (message: Message) => T | readonly T[],
): Result<readonly T[]> {
  if (answer === undefined || answer.errno === errno.ENOENT) return ok([]);
  return answer.errno === 0 ? ok(answer.messages.flatMap(read)) : failed(failure(what, reason(answer)));
}

function reason({ errno: number, words }: NetlinkAnswer): string {
  return `${systemError(number)}${words === "" ? "" : `: ${words}`}`;
}
