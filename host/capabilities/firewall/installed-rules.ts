// Reads the installed rules of an attachment, before they are changed, removed or compared.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetlinkAnswer } from "../../system/netlink/message.ts";
import type { Expression } from "./expressions.ts";
import { chainOfJump } from "./expressions.ts";
import { ask, type NetlinkShim, failure } from "./kernel.ts";
import { layoutChains, overflow } from "./layout.ts";
import {
  chainIn,
  chainsRequest,
  elementsIn,
  elementsRequest,
  type Table,
  type ReadElement,
  type ReadRule,
  ruleIn,
  rulesRequest,
} from "./nf-tables.ts";
import { chainName, type Owner, type Purpose, purposes } from "./owner.ts";
import { entries, type Entry, type Masquerade, mappingIn, masqueradeIn, type PortMapping, portPart } from "./rules.ts";
import { ENOENT } from "../../system/errno.ts";
import { systemError } from "../../system/system-error.ts";

/** The installed rules of an attachment in one family. */
export interface InstalledRules {
  readonly family: 4 | 6;
  /** Whether the layout that all attachments share is complete. */
  readonly hasLayout: boolean;
  /** The attachment's existing chains. */
  readonly chains: ReadonlySet<Purpose>;
  /** Map elements that lead to the attachment's chains. */
  readonly entries: readonly Pick<Entry, "map" | "key">[];
  /** Rules of the overflow chains that lead to the attachment's chains. */
  readonly jumps: readonly { readonly chain: string; readonly handle: Uint8Array }[];
  /** Keys of `hostports` elements that only mark a port as used at single addresses, and that no other attachment needs. */
  readonly idleMarks: readonly Uint8Array[];
}

const maps: readonly Entry["map"][] = ["hostports", "hostports-at", "answers", "sources"];

/**
 * The installed rules of an attachment in both families. `comments`: the map elements are derived from the comments of the attachment's rules where
 * possible, which is fast, and correct unless an administrator changed the tables. `maps`: the maps of all attachments are read.
 */
export async function readInstalled(
  shim: NetlinkShim,
  owner: Owner,
  source: "comments" | "maps",
): Promise<Result<readonly InstalledRules[]>> {
  const tables = [4, 6] as const;
  const named = tables.flatMap((family) =>
    [...layoutChains(family).keys(), ...purposes.map((purpose) => chainName(purpose, owner))].map((name) => ({ family, name })),
  );
  const answers = await ask(
    shim,
    named.map(({ family, name }) => chainsRequest({ family }, name)),
    "looking for chains",
  );
  if (!answers.ok) return answers;
  const refusal = answers.value.find((answer) => answer.errno !== 0 && answer.errno !== ENOENT);
  if (refusal !== undefined) return failed(failure("looking for chains", refusalText(refusal)));
  const found = answers.value.map(({ messages }) => messages.flatMap((message) => chainIn(message) ?? [])[0]);
  const all = await Promise.all(
    tables.map(async (family): Promise<Result<InstalledRules>> => {
      const chainsByName = new Map(
        named.flatMap((each, index) => (each.family === family ? [[each.name, found[index]] as const] : [])),
      );
      const hasLayout = [...layoutChains(family)].every(([name, { uses, hooked }]) => {
        const chain = chainsByName.get(name);
        return chain?.uses === uses && chain.hooked === hooked;
      });
      const chains = purposes.filter((purpose) => chainsByName.get(chainName(purpose, owner)) !== undefined);
      const names = new Set(chains.map((purpose) => chainName(purpose, owner)));
      const derived = source === "comments" ? await referencesInComments(shim, { family }, owner, chains) : ok(undefined);
      if (!derived.ok) return derived;
      const references = derived.value === undefined ? await readReferences(shim, { family }, names) : ok(derived.value);
      return references.ok ? ok({ family, hasLayout, chains: new Set(chains), ...references.value }) : references;
    }),
  );
  const [four, six] = all;
  if (four?.ok !== true) return four ?? ok([]);
  return six?.ok === true ? ok([four.value, six.value]) : (six ?? ok([]));
}

/** The references to the chains, derived from the comments of their rules; undefined where the maps must be read. */
async function referencesInComments(
  shim: NetlinkShim,
  table: Table,
  owner: Owner,
  chains: readonly Purpose[],
): Promise<Result<References | undefined>> {
  const commented: { masquerades: Masquerade[]; portMappings: PortMapping[] } = { masquerades: [], portMappings: [] };
  for (const purpose of chains) {
    if (purpose === "answers") continue; // its rules are of the same mappings as those of `ports`
    const rules = await readRules(shim, table, chainName(purpose, owner));
    if (!rules.ok) return rules;
    for (const { comment } of rules.value) {
      const [mapping, masquerade] = purpose === "ports" ? [mappingIn(comment), undefined] : [undefined, masqueradeIn(comment)];
      if (mapping !== undefined) commented.portMappings.push(mapping);
      else if (masquerade !== undefined) commented.masquerades.push(masquerade);
      else return ok(undefined);
    }
  }
  const isIncomplete = chains.includes("answers") && !chains.includes("ports");
  if (isIncomplete || commented.portMappings.some(({ hostAddress }) => hostAddress !== undefined)) return ok(undefined);
  return ok({ ...none, entries: entries(commented) });
}

/** Map elements and rules that lead to an attachment's chains. */
type References = Pick<InstalledRules, "entries" | "jumps" | "idleMarks">;

const none: References = { entries: [], jumps: [], idleMarks: [] };

/** Reads all references to these chains from the maps and the overflow chains. */
export async function readReferences(shim: NetlinkShim, table: Table, chains: ReadonlySet<string>): Promise<Result<References>> {
  if (chains.size === 0) return ok(none);
  const found: Pick<Entry, "map" | "key">[] = [];
  const marks: Uint8Array[] = [];
  /** Ports that other attachments map at single addresses, and ports that these chains map so. */
  const portsOfOthers = new Set<string>();
  const portsOfChains: Uint8Array[] = [];
  for (const map of maps) {
    const elements = await readElements(shim, table, map);
    if (!elements.ok) return elements;
    for (const { key, chain } of elements.value) {
      const leadsToChains = chain !== undefined && chains.has(chain);
      if (leadsToChains) found.push({ map, key });
      if (chain === undefined) marks.push(key);
      else if (map === "hostports-at") {
        if (leadsToChains) portsOfChains.push(portPart(key));
        else portsOfOthers.add(portPart(key).join("."));
      }
    }
  }
  const jumps: { chain: string; handle: Uint8Array }[] = [];
  for (const chain of Object.values(overflow)) {
    const rules = await readRules(shim, table, chain);
    if (!rules.ok) return rules;
    for (const { handle, expressions } of rules.value) if (leadsTo(expressions, chains)) jumps.push({ chain, handle });
  }
  const markedPorts = new Set(portsOfChains.map((key) => key.join(".")));
  const idleMarks = marks.filter((key) => markedPorts.has(key.join(".")) && !portsOfOthers.has(key.join(".")));
  return ok({ entries: found, jumps, idleMarks });
}

function leadsTo(expressions: readonly Expression[], chains: ReadonlySet<string>): boolean {
  return expressions.some((expression) => chains.has(chainOfJump(expression) ?? ""));
}

/** The elements of a map, or the element of one key. None if the map or the element does not exist. */
export async function readElements(
  shim: NetlinkShim,
  table: Table,
  map: string,
  key?: Uint8Array,
): Promise<Result<readonly ReadElement[]>> {
  const action = `reading the map ${map}`;
  const answers = await ask(shim, [elementsRequest(table, map, key)], action);
  return answers.ok ? contents(answers.value, action, elementsIn) : answers;
}

/** The rules of a chain, in order. None if the chain does not exist. */
export async function readRules(shim: NetlinkShim, table: Table, chain: string): Promise<Result<readonly ReadRule[]>> {
  const action = `reading the chain ${chain}`;
  const answers = await ask(shim, [rulesRequest(table, chain)], action);
  return answers.ok ? contents(answers.value, action, (message) => ruleIn(message) ?? []) : answers;
}

type Message = NetlinkAnswer["messages"][number];

function contents<T>(
  [answer]: readonly NetlinkAnswer[],
  action: string,
  read: (message: Message) => T | readonly T[],
): Result<readonly T[]> {
  if (answer === undefined || answer.errno === ENOENT) return ok([]);
  return answer.errno === 0 ? ok(answer.messages.flatMap(read)) : failed(failure(action, refusalText(answer)));
}

/** The errno of the kernel's refusal, and its error text where it gives one. */
export function refusalText({ errno, errorText }: NetlinkAnswer): string {
  return `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`;
}
