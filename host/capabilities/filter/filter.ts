// Makes, compares and removes the rules of one attachment. Each change is one batch of both IP versions. A batch with chains or rules that all attachments
// share is refused by the kernel if another program has changed a rule since they were read: a second jump to a chain would stay.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { EINTR, ENOENT, ERESTART } from "../../system/errno.ts";
import type { NetlinkRequest } from "../../system/netlink/message.ts";
import { readRules, refusalText } from "../firewall/installed-rules.ts";
import { ask, type Change, commit, failure, type NetlinkShim, refusalFault } from "../firewall/kernel.ts";
import { chainsRequest, deleteRules, generationRequest, newChain, newRule, newTable } from "../firewall/nf-tables.ts";
import { chainIn, generationIn, type ReadRule } from "../firewall/nf-answers.ts";
import type { Table } from "../firewall/nf-request.ts";
import type { NetworkDelegate, Owner } from "../firewall/owner.ts";
import { attachmentPart } from "../firewall/owner.ts";
import {
  acceptChain,
  addressRules,
  commentPrefix,
  filterTable,
  forwardChain,
  neededChains,
  ownerComment,
  type PlacedRule,
  sharedRules,
} from "./chains.ts";
import { commentOf, expressionsOf, isRule, sourceOf } from "./iptables-rule.ts";
import type { Acceptance } from "./requests.ts";

const families = [4, 6] as const;
type Family = (typeof families)[number];

/** Maximum number of attempts at a change that concurrent changes prevent. */
const maxAttempts = 20;

const tableOf = (family: Family): Table => ({ family, name: filterTable });

/** The chains of one family that exist, with their rules. */
type Chains = ReadonlyMap<string, readonly ReadRule[]>;

/** Accepts the attachment's packets in place of its earlier rules. Fault: FIREWALL_FAILED. */
export function replace(shim: NetlinkShim, owner: Owner, acceptance: Acceptance): Promise<Result<undefined>> {
  const comment = ownerComment(owner);
  return change(
    shim,
    neededChains(acceptance),
    `accepting the packets of ${owner.containerId}/${owner.ifname}`,
    (family, chains) => {
      const addresses = ofFamily(acceptance.addresses, family);
      const stale = (chains.get(acceptChain) ?? []).filter((rule) => commentOf(rule) === comment);
      const removals = removalsOf(family, stale);
      if (addresses.length === 0) return { own: removals, shared: [] };
      const own = addresses.flatMap((address) => addressRules(address, comment)).map((placed) => ruleRequest(family, placed));
      return { shared: sharedParts(family, chains, acceptance), own: [...removals, ...own.map((request) => ({ request }))] };
    },
  );
}

/** The first missing part of the acceptance; undefined for none. Rules of the native plugin count, too. Fault: FIREWALL_FAILED. */
export async function difference(shim: NetlinkShim, owner: Owner, acceptance: Acceptance): Promise<Result<string | undefined>> {
  const comment = ownerComment(owner);
  for (const family of families) {
    const addresses = ofFamily(acceptance.addresses, family);
    if (addresses.length === 0) continue;
    const chains = await readChains(shim, family, [forwardChain, ...neededChains(acceptance)]);
    if (!chains.ok) return chains;
    const shared = sharedRules(acceptance).map((placed) => [placed]);
    const own = addresses.flatMap((address) =>
      addressRules(address, comment).map((placed, at) => [placed, ...addressRules(address).slice(at, at + 1)]),
    );
    for (const alternatives of [...shared, ...own]) {
      if (alternatives.some((placed) => isInstalled(chains.value, placed))) continue;
      const [missing] = alternatives;
      return ok(`a rule of the chain ${missing?.chain ?? ""} of the table ${tableText(family)} is missing`);
    }
  }
  return ok(undefined);
}

/**
 * Removes the attachment's rules, and the native plugin's for its addresses. Answers these addresses, and those of further rules of the attachment.
 * Fault: FIREWALL_FAILED.
 */
export async function remove(
  shim: NetlinkShim,
  owner: Owner,
  addresses: readonly IpAddress[],
): Promise<Result<readonly IpAddress[]>> {
  const comment = ownerComment(owner);
  const found = new Map(addresses.map((address) => [formatAddress(address), address]));
  const removed = await change(
    shim,
    [acceptChain],
    `removing the rules of ${owner.containerId}/${owner.ifname}`,
    (family, chains) => {
      const native = ofFamily(addresses, family).flatMap((address) => addressRules(address));
      const present = chains.get(acceptChain) ?? [];
      const stale = present.filter((rule) => commentOf(rule) === comment || native.some((placed) => isRule(placed.rule, rule)));
      for (const address of stale.flatMap((rule) => sourceOf(rule) ?? [])) found.set(formatAddress(address), address);
      return { shared: [], own: removalsOf(family, stale) };
    },
  );
  return removed.ok ? ok([...found.values()]) : removed;
}

/** The attachments whose rules were removed, by their number, and the addresses of these rules. */
export interface Retained {
  readonly attachments: number;
  readonly addresses: readonly IpAddress[];
}

/** Removes a delegate's rules in a network for attachments that are not valid. Fault: FIREWALL_FAILED. */
export async function retain(
  shim: NetlinkShim,
  delegate: NetworkDelegate,
  valid: readonly AttachmentId[],
): Promise<Result<Retained>> {
  const prefix = commentPrefix(delegate);
  const kept = new Set(valid.map((each) => `${prefix}${attachmentPart(each)}`));
  const gone = new Set<string>();
  const found = new Map<string, IpAddress>();
  const action = `removing the rules of attachments that are no longer in the network ${delegate.network}`;
  const removed = await change(shim, [acceptChain], action, (family, chains) => {
    const stale = (chains.get(acceptChain) ?? []).filter((rule) => {
      const comment = commentOf(rule);
      return comment.startsWith(prefix) && !kept.has(comment);
    });
    for (const rule of stale) gone.add(commentOf(rule));
    for (const address of stale.flatMap((rule) => sourceOf(rule) ?? [])) found.set(formatAddress(address), address);
    return { shared: [], own: removalsOf(family, stale) };
  });
  return removed.ok ? ok({ attachments: gone.size, addresses: [...found.values()] }) : removed;
}

/** Checks that rules could be made: the kernel tries rules of a documentation address without applying them. Fault: FIREWALL_FAILED. */
export async function probe(shim: NetlinkShim, acceptance: Acceptance): Promise<Result<undefined>> {
  const chains = await readChains(shim, 4, [forwardChain, ...neededChains(acceptance)]);
  if (!chains.ok) return chains;
  const requests = [
    ...sharedParts(4, chains.value, acceptance),
    ...acceptance.addresses.flatMap((address) => addressRules(address)).map((placed) => ruleRequest(4, placed)),
  ];
  const action = `making rules in the table ${tableText(4)}`;
  const refusals = await commit(
    shim,
    requests.map((request) => ({ request, action })),
    "try",
  );
  if (!refusals.ok) return refusals;
  const [first] = refusals.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}

function ofFamily(addresses: Acceptance["addresses"], family: Family): readonly IpAddress[] {
  return addresses.filter((address) => address.family === family);
}

function removalsOf(family: Family, rules: readonly ReadRule[]): readonly Omit<Change, "action">[] {
  // ENOENT: another process removed the rule meanwhile.
  return rules.map(({ handle }) => ({ request: deleteRules(tableOf(family), acceptChain, handle), raceErrno: ENOENT }));
}

function ruleRequest(family: Family, { chain, at, rule }: PlacedRule): NetlinkRequest {
  return newRule(tableOf(family), chain, expressionsOf(rule), "", at);
}

/** The requests that make the missing parts that attachments share: table, chains and rules. */
function sharedParts(family: Family, chains: Chains, acceptance: Acceptance): readonly NetlinkRequest[] {
  const table = tableOf(family);
  const hook = { type: "filter", hook: "forward", priority: 0 } as const;
  const rules = sharedRules(acceptance).filter((placed) => !isInstalled(chains, placed));
  return [
    ...(chains.has(forwardChain) ? [] : [newTable(table), newChain(table, forwardChain, { hook })]),
    ...neededChains(acceptance).flatMap((name) => (chains.has(name) ? [] : [newChain(table, name, { shared: true })])),
    ...rules.map((placed) => ruleRequest(family, placed)),
  ];
}

function isInstalled(chains: Chains, { chain, rule }: PlacedRule): boolean {
  return (chains.get(chain) ?? []).some((installed) => isRule(rule, installed));
}

/** The changes of one family: of what all attachments share, and of the attachment's own rules. */
interface Planned {
  readonly shared: readonly NetlinkRequest[];
  readonly own: readonly Omit<Change, "action">[];
}

/** Reads the chains of both families, and sends one batch, until no other program prevents the batch. */
async function change(
  shim: NetlinkShim,
  names: readonly string[],
  action: string,
  plan: (family: Family, chains: Chains) => Planned,
): Promise<Result<undefined>> {
  for (let attempt = 1; ; attempt++) {
    const generation = await readGeneration(shim);
    if (!generation.ok) return generation;
    const changes: Change[] = [];
    let isShared = false;
    for (const family of families) {
      const chains = await readChains(shim, family, [forwardChain, ...names]);
      if (!chains.ok) return chains;
      const { shared, own } = plan(family, chains.value);
      isShared ||= shared.length > 0;
      changes.push(...shared.map((request) => ({ request, action })), ...own.map((each) => ({ ...each, action })));
    }
    if (changes.length === 0) return ok(undefined);
    const refusals = await commit(shim, changes, "commit", "", isShared ? generation.value : undefined);
    if (!refusals.ok) return refusals;
    const [first] = refusals.value;
    if (first === undefined) return ok(undefined);
    const isRace = first.errno === ERESTART || first.errno === EINTR || first.errno === first.change?.raceErrno;
    if (!isRace || attempt === maxAttempts) return failed(refusalFault(first));
  }
}

async function readGeneration(shim: NetlinkShim): Promise<Result<number | undefined>> {
  const action = "asking for nftables";
  const answers = await ask(shim, [generationRequest()], action);
  if (!answers.ok) return answers;
  const [answer] = answers.value;
  if (answer !== undefined && answer.errno !== 0) return failed(failure(action, refusalText(answer)));
  return ok(answer?.messages.flatMap((message) => generationIn(message) ?? [])[0]);
}

/** The chains of these names that exist, with their rules. */
async function readChains(shim: NetlinkShim, family: Family, names: readonly string[]): Promise<Result<Chains>> {
  const table = tableOf(family);
  const action = `looking for chains of the table ${tableText(family)}`;
  const answers = await ask(
    shim,
    names.map((name) => chainsRequest(table, name)),
    action,
  );
  if (!answers.ok) return answers;
  const refusal = answers.value.find(({ errno }) => errno !== 0 && errno !== ENOENT);
  if (refusal !== undefined) return failed(failure(action, refusalText(refusal)));
  const chains = new Map<string, readonly ReadRule[]>();
  for (const [at, name] of names.entries()) {
    if (!(answers.value[at]?.messages ?? []).some((message) => chainIn(message) !== undefined)) continue;
    const rules = await readRules(shim, table, name);
    if (!rules.ok) return rules;
    chains.set(name, rules.value);
  }
  return ok(chains);
}

function tableText(family: Family): string {
  return `${family === 4 ? "ip" : "ip6"} ${filterTable}`;
}
