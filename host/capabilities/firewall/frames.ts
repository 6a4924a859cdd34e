// Guards against MAC spoofing: frames that arrive at the node's end of an attachment's veth must have the pod's MAC as their source. In the table
// `bridge plexus` a map leads from the link's name to the attachment's chain: the cost of a frame does not depend on the number of attachments.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { sameExpressions, verdictExpression } from "./expressions.ts";
import { lookUpLink } from "./lookup-expressions.ts";
import { sourceMacIsNot } from "./match-expressions.ts";
import { readElements, readRules, refusalText } from "./installed-rules.ts";
import { ask, type NetlinkShim, type Change, commit, failure, refusalFault } from "./kernel.ts";
import { chainsRequest, deleteChain, deleteRules, newChain, newRule, newTable } from "./nf-tables.ts";
import { chainIn } from "./nf-answers.ts";
import { deleteElement, newElement, newMap, type VerdictMap } from "./nf-sets.ts";
import { PLEXUS_TABLE, type Table } from "./nf-request.ts";
import { attachmentPart, chainName, type NetworkDelegate, type Owner, prefixOf } from "./owner.ts";
import { EAFNOSUPPORT, ENOENT, EOPNOTSUPP, EPROTONOSUPPORT } from "../../system/errno.ts";

const table: Table = { family: "bridge" };
/** Type 41 is nft's number of ifname. */
const linksMap: VerdictMap = { name: "links", types: [41], keySize: 16 };
const base = "prerouting";
/** Before all other chains, at the priority that the reference plugin uses. */
const hook = { type: "filter", hook: "prerouting", priority: -300 } as const;
/** The kernel's errnos where the table, or the whole family, does not exist. */
const absenceErrnos: readonly number[] = [ENOENT, EOPNOTSUPP, EAFNOSUPPORT, EPROTONOSUPPORT];

/** A link on the node, and the only source MAC that its frames may have. */
export interface Guard {
  readonly link: string;
  readonly mac: string;
}

/** Installs the guard in place of the attachment's earlier one. Fault: FIREWALL_FAILED. */
export async function guardFrames(shim: NetlinkShim, owner: Owner, { link, mac }: Guard): Promise<Result<undefined>> {
  const before = await keysTo(shim, new Set([chainOf(owner)]));
  if (!before.ok) return before;
  const chain = chainOf(owner);
  const requests = [
    newTable(table),
    newMap(table, linksMap, 1),
    newChain(table, base, { hook }),
    deleteRules(table, base),
    newRule(table, base, lookUpLink(linksMap.name)),
    ...before.value.map((key) => deleteElement(table, linksMap.name, key)),
    newChain(table, chain, { shared: true }),
    deleteRules(table, chain),
    newRule(table, chain, guardRule(mac), `${link} ${mac}`),
    newElement(table, { map: linksMap.name, key: keyOf(link), verdict: { kind: "jump", chain } }),
  ];
  return change(shim, requests, `guarding the frames from ${link}`);
}

/** Whether this guard is installed. Fault: FIREWALL_FAILED. */
export async function framesGuarded(shim: NetlinkShim, owner: Owner, { link, mac }: Guard): Promise<Result<boolean>> {
  const chain = chainOf(owner);
  const found = await chains(shim, [base, chain]);
  if (!found.ok) return found;
  if (found.value[0]?.hooked !== true || found.value[1] === undefined) return ok(false);
  const [elements, baseRules, rules] = [
    await readElements(shim, table, linksMap.name, keyOf(link)),
    await readRules(shim, table, base),
    await readRules(shim, table, chain),
  ];
  if (!elements.ok) return elements;
  if (!baseRules.ok) return baseRules;
  if (!rules.ok) return rules;
  const [first] = rules.value;
  const isReached = elements.value[0]?.chain === chain && baseRules.value.length === 1;
  return ok(isReached && rules.value.length === 1 && first !== undefined && sameExpressions(guardRule(mac), first.expressions));
}

/** Removes the attachment's guard; it need not have one. Fault: FIREWALL_FAILED. */
export async function unguardFrames(shim: NetlinkShim, owner: Owner): Promise<Result<undefined>> {
  const chain = chainOf(owner);
  const found = await chains(shim, [chain]);
  if (!found.ok) return found;
  return found.value[0] === undefined ? ok(undefined) : removeChains(shim, [chain], `${owner.containerId}/${owner.ifname}`);
}

/** Removes the guards of a delegate and network for attachments that are not in `valid`. Answers the attachments' parts of the chain names. */
export async function retainGuards(
  shim: NetlinkShim,
  delegate: NetworkDelegate,
  valid: readonly AttachmentId[],
): Promise<Result<readonly string[]>> {
  const answers = await ask(shim, [chainsRequest(table)], "listing the chains of bridges");
  if (!answers.ok) return answers;
  const [answer] = answers.value;
  if (answer !== undefined && answer.errno !== 0)
    return absenceErrnos.includes(answer.errno) ? ok([]) : failed(failure("listing the chains of bridges", refusalText(answer)));
  const prefix = prefixOf("source", delegate);
  const kept = new Set(valid.map(attachmentPart));
  const stale = (answer?.messages ?? [])
    .flatMap((message) => chainIn(message) ?? [])
    .filter(({ tableName, name }) => tableName === PLEXUS_TABLE && name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length))
    .filter((part) => !kept.has(part));
  if (stale.length === 0) return ok([]);
  const removed = await removeChains(
    shim,
    stale.map((part) => `${prefix}${part}`),
    `attachments that are no longer in the network ${delegate.network}`,
  );
  return removed.ok ? ok(stale) : removed;
}

function chainOf(owner: Owner): string {
  return chainName("source", owner);
}

/** Drops frames from another source. */
function guardRule(mac: string): ReturnType<typeof sourceMacIsNot> {
  const bytes = Uint8Array.from(mac.split(":"), (part) => Number.parseInt(part, 16));
  return [...sourceMacIsNot(bytes), verdictExpression({ kind: "drop" })];
}

/** The map's key for a link's name: the kernel compares names padded with zeros. */
function keyOf(link: string): Uint8Array {
  const key = new Uint8Array(linksMap.keySize);
  new TextEncoder().encodeInto(link, key.subarray(0, linksMap.keySize - 1));
  return key;
}

/** The chains of these names; undefined for one that does not exist. */
async function chains(
  shim: NetlinkShim,
  names: readonly string[],
): Promise<Result<readonly (ReturnType<typeof chainIn> | undefined)[]>> {
  const action = "looking for chains of bridges";
  const answers = await ask(
    shim,
    names.map((name) => chainsRequest(table, name)),
    action,
  );
  if (!answers.ok) return answers;
  const refusal = answers.value.find((answer) => answer.errno !== 0 && !absenceErrnos.includes(answer.errno));
  if (refusal !== undefined) return failed(failure(action, refusalText(refusal)));
  return ok(answers.value.map(({ messages }) => messages.flatMap((message) => chainIn(message) ?? [])[0]));
}

/** The map's keys that lead to these chains. */
async function keysTo(shim: NetlinkShim, names: ReadonlySet<string>): Promise<Result<readonly Uint8Array[]>> {
  const found = await chains(shim, [...names]);
  if (!found.ok) return found;
  if (found.value.every((chain) => chain === undefined)) return ok([]);
  const elements = await readElements(shim, table, linksMap.name);
  if (!elements.ok) return elements;
  return ok(elements.value.filter(({ chain }) => chain !== undefined && names.has(chain)).map(({ key }) => key));
}

async function removeChains(shim: NetlinkShim, names: readonly string[], owner: string): Promise<Result<undefined>> {
  const keys = await keysTo(shim, new Set(names));
  if (!keys.ok) return keys;
  const requests = [
    ...keys.value.map((key) => deleteElement(table, linksMap.name, key)),
    ...names.flatMap((name) => [deleteRules(table, name), deleteChain(table, name)]),
  ];
  return change(shim, requests, `removing the frame guards of ${owner}`);
}

async function change(shim: NetlinkShim, requests: readonly Change["request"][], action: string): Promise<Result<undefined>> {
  const refusals = await commit(
    shim,
    requests.map((request) => ({ request, action })),
  );
  if (!refusals.ok) return refusals;
  const [first] = refusals.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}
