// Reads the installed rules of an attachment, before they are changed, removed or compared.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetlinkAnswer } from "../../system/netlink/message.ts";
import type { Expression } from "./expressions.ts";
import { chainOfJump } from "./expressions.ts";
import { ask, type NetlinkShim, failure } from "./kernel.ts";
import { layoutChains, overflow } from "./layout.ts";
import { chainsRequest, rulesRequest } from "./nf-tables.ts";
import { chainIn, elementsIn, type ReadElement, type ReadRule, ruleIn } from "./nf-answers.ts";
import { elementsRequest } from "./nf-sets.ts";
import type { Table } from "./nf-request.ts";
import { chainName, type Owner, type Purpose, purposes } from "./owner.ts";
import { type HostPorts, type PortElement, type PortMap, type Share, shareChains } from "./host-ports.ts";
import type { Masquerade, PortMapping } from "./mappings.ts";
import { mappingIn, marksSharedAddress, masqueradeIn } from "./rule-comments.ts";
import { entries, type Entry, type EntryKey, readPortKey } from "./rules.ts";
import { ENOENT } from "../../system/errno.ts";
import { systemError } from "../../system/system-error.ts";

/** The installed rules of an attachment in one family. */
export interface InstalledRules extends References {
  readonly family: 4 | 6;
  /** Whether the layout that all attachments share is complete. */
  readonly hasLayout: boolean;
  /** The attachment's existing chains. */
  readonly chains: ReadonlySet<Purpose>;
  /** The installed port mappings, as far as their comments can be read. */
  readonly portMappings: readonly PortMapping[];
}

/** A rule of a chain that several attachments use. */
interface ChainRule {
  readonly chain: string;
  readonly handle: Uint8Array;
}

const addressMaps: readonly Entry["map"][] = ["answers", "sources"];
const portMaps: readonly PortMap[] = ["hostports", "hostports-at"];

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
    [...layoutChains(family).keys(), ...Object.values(shareChains), ...purposes.map((purpose) => chainName(purpose, owner))].map(
      (name) => ({ family, name }),
    ),
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
      const commented = await readComments(shim, { family }, owner, chains);
      if (!commented.ok) return commented;
      // Comments do not tell who has a share in the attachment's ports.
      const hasShares = Object.values(shareChains).some((name) => (chainsByName.get(name)?.uses ?? 0) > 0);
      const derived = source === "comments" && !hasShares ? referencesInComments(commented.value, chains) : undefined;
      const references = derived === undefined ? await readReferences(shim, { family }, names) : ok(derived);
      if (!references.ok) return references;
      const { portMappings } = commented.value;
      return ok({ family, hasLayout, chains: new Set(chains), portMappings, ...references.value });
    }),
  );
  const [four, six] = all;
  if (four?.ok !== true) return four ?? ok([]);
  return six?.ok === true ? ok([four.value, six.value]) : (six ?? ok([]));
}

/** The comments of an attachment's rules. */
interface Comments {
  readonly masquerades: readonly Masquerade[];
  readonly portMappings: readonly PortMapping[];
  /** Whether the attachment's map elements can be derived from them. */
  readonly isDerivable: boolean;
}

async function readComments(
  shim: NetlinkShim,
  table: Table,
  owner: Owner,
  chains: readonly Purpose[],
): Promise<Result<Comments>> {
  const read: { masquerades: Masquerade[]; portMappings: PortMapping[] } = { masquerades: [], portMappings: [] };
  let isDerivable = true;
  for (const purpose of chains) {
    if (purpose === "answers") continue; // its rules are of the same mappings as those of `ports`
    const rules = await readRules(shim, table, chainName(purpose, owner));
    if (!rules.ok) return rules;
    for (const { comment } of rules.value) {
      const [mapping, masquerade] = purpose === "ports" ? [mappingIn(comment), undefined] : [undefined, masqueradeIn(comment)];
      if (mapping !== undefined) read.portMappings.push(mapping);
      if (masquerade !== undefined) read.masquerades.push(masquerade);
      if ((mapping === undefined && masquerade === undefined) || marksSharedAddress(comment)) isDerivable = false;
    }
  }
  return ok({ ...read, isDerivable });
}

/** The references to the chains, derived from the comments of their rules; undefined where the maps must be read. */
function referencesInComments({ isDerivable, ...commented }: Comments, chains: readonly Purpose[]): References | undefined {
  const isIncomplete = chains.includes("answers") && !chains.includes("ports");
  const isAtAddress = commented.portMappings.some(({ hostAddress }) => hostAddress !== undefined);
  return isDerivable && !isIncomplete && !isAtAddress ? { ...none, entries: entries(commented) } : undefined;
}

/** Map elements and rules that lead to an attachment's chains, and the ports of all attachments. */
export interface References {
  /** Map elements that lead to the attachment's chains; without those of ports where `ports` has them. */
  readonly entries: readonly EntryKey[];
  /** Rules of the overflow chains that lead to the attachment's chains. */
  readonly jumps: readonly ChainRule[];
  /** The rules of the attachment's shares in ports. */
  readonly shares: readonly ChainRule[];
  /** Elements and shares of all ports; undefined where the entries were derived from comments. */
  readonly ports: HostPorts | undefined;
}

const none: References = { entries: [], jumps: [], shares: [], ports: undefined };

/** Reads all references to these chains from the maps, the overflow chains and the chains of shares. */
export async function readReferences(shim: NetlinkShim, table: Table, chains: ReadonlySet<string>): Promise<Result<References>> {
  const found: EntryKey[] = [];
  for (const map of addressMaps) {
    const elements = await readElements(shim, table, map);
    if (!elements.ok) return elements;
    for (const { key, chain } of elements.value) if (chain !== undefined && chains.has(chain)) found.push({ map, key });
  }
  const jumps: ChainRule[] = [];
  for (const chain of Object.values(overflow)) {
    const rules = await readRules(shim, table, chain);
    if (!rules.ok) return rules;
    for (const { handle, expressions } of rules.value)
      if (chains.has(chainOfRule(expressions) ?? "")) jumps.push({ chain, handle });
  }
  const ports = await readPorts(shim, table, chains);
  return ports.ok ? ok({ entries: found, jumps, ...ports.value }) : ports;
}

/** Reads the holders of all ports and the shares in them. */
async function readPorts(
  shim: NetlinkShim,
  table: Table,
  chains: ReadonlySet<string>,
): Promise<Result<Pick<References, "ports" | "shares">>> {
  const ports: { elements: PortElement[]; shares: Share[] } = { elements: [], shares: [] };
  const ownShares: ChainRule[] = [];
  for (const map of portMaps) {
    const elements = await readElements(shim, table, map);
    if (!elements.ok) return elements;
    ports.elements.push(...elements.value.map((element) => ({ map, ...element })));
    const rules = await readRules(shim, table, shareChains[map]);
    if (!rules.ok) return rules;
    for (const { handle, expressions, comment } of rules.value) {
      const [chain, key] = [chainOfRule(expressions), readPortKey(comment)];
      if (chain === undefined || key === undefined) continue;
      ports.shares.push({ map, key, chain });
      if (chains.has(chain)) ownShares.push({ chain: shareChains[map], handle });
    }
  }
  return ok({ ports, shares: ownShares });
}

/** The chain that a rule jumps to. */
function chainOfRule(expressions: readonly Expression[]): string | undefined {
  return expressions.map(chainOfJump).find((chain) => chain !== undefined);
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
