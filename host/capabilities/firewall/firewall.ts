// Replaces, compares and removes the rules of one attachment. Each change is one nftables batch, which comes into force as a whole or not at
// all. Other tables and other attachments' rules stay unchanged.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { deleteFlows } from "./conntrack.ts";
import { addressIn, verdictExpression, sameExpressions, type Verdict } from "./expressions.ts";
import { type InstalledRules, readElements, readInstalled, readRules, readReferences } from "./installed-rules.ts";
import { ask, type NetlinkShim, type Change, commit, failure, refusalFault, type Refusal } from "./kernel.ts";
import { overflow, layoutRequests } from "./layout.ts";
import { enableRouteLocalnet } from "./route-localnet.ts";
import {
  chainIn,
  chainsRequest,
  deleteChain,
  deleteElement,
  deleteRules,
  generationRequest,
  type IpTable,
  newChain,
  newElement,
  newRule,
  type Table,
  PLEXUS_TABLE,
} from "./nf-tables.ts";
import { attachmentPart, chainName, type Owner, ownerText, prefixOf, purposes } from "./owner.ts";
import { chainRules, entries, type Entry, ofFamily, portPart, type Rules } from "./rules.ts";
import { EBUSY, EEXIST, EINTR, ENOENT, ERESTART } from "../../system/errno.ts";

const families = [4, 6] as const;

/** Maximum number of attempts at a change that concurrent changes prevent. */
const maxAttempts = 8;

/** The addition of an element to a map. */
interface EntryChange extends Change {
  readonly entry: Entry;
  readonly family: 4 | 6;
}

/**
 * Installs these rules in place of the attachment's earlier ones. If `route_localnet` cannot be enabled, removes them all. Faults:
 * FIREWALL_FAILED, HOST_PORT_TAKEN.
 */
export async function replace(shim: NetlinkShim, owner: Owner, rules: Rules): Promise<Result<undefined>> {
  const changed = await change(shim, owner, rules);
  if (!changed.ok) return changed;
  // After the rules: one of them keeps the node's neighbours from 127.0.0.1.
  const localhost = await enableRouteLocalnet(shim, rules.portMappings);
  if (!localhost.ok) {
    const removed = await remove(shim, owner);
    const remaining = removed.ok ? "" : `; the attachment's rules could not be removed: ${removed.fault.msg}`;
    return failed({ ...localhost.fault, msg: `${localhost.fault.msg}${remaining}` });
  }
  await deleteFlows(shim, rules.portMappings);
  return ok(undefined);
}

/** Removes the attachment's rules; it need not have any. Fault: FIREWALL_FAILED. */
export function remove(shim: NetlinkShim, owner: Owner): Promise<Result<undefined>> {
  return change(shim, owner, { masquerades: [], portMappings: [] });
}

async function change(shim: NetlinkShim, owner: Owner, rules: Rules): Promise<Result<undefined>> {
  /** Map entries of addresses that belong to another attachment. */
  const takenEntries = new Set<string>();
  let last: Refusal | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await readInstalled(shim, owner, attempt === 0 ? "comments" : "maps");
    if (!before.ok) return before;
    const changes = before.value.flatMap((installed) =>
      changesOf(installed, owner, ofFamily(rules, installed.family), takenEntries),
    );
    if (changes.length === 0) return ok(undefined);
    const refusals = await commit(shim, changes);
    if (!refusals.ok) return refusals;
    const [first] = refusals.value;
    if (first === undefined) return ok(undefined);
    last = first;
    const taken = refusals.value.filter(isTaken);
    for (const { change: entryChange } of taken) {
      const { entry, family } = entryChange;
      if (entry.map === "answers" || entry.map === "sources") takenEntries.add(entryKey(family, entry));
      else {
        const holder = await portHolder(shim, { family }, entry);
        if (!holder.ok) return holder;
        if (holder.value !== undefined) return failed(portTaken(entry.text, holder.value));
      }
    }
    if (taken.length === 0 && !isRace(first)) return failed(refusalFault(first));
  }
  return failed(
    last === undefined ? failure("changing the rules", `none of ${maxAttempts} attempts succeeded`) : refusalFault(last),
  );
}

/** Whether an element of the same key with another verdict exists. */
function isTaken(refusal: Refusal): refusal is Refusal & { readonly change: EntryChange } {
  return refusal.errno === EEXIST && refusal.change !== undefined && "entry" in refusal.change;
}

/** Whether a change by another process between the read and the batch may have caused the refusal. */
function isRace({ errno, change: refused }: Refusal): boolean {
  if (errno === EINTR || errno === ERESTART || errno === EBUSY) return true;
  // The other process made a chain of the same name, or removed what this batch removes.
  return refused?.raceErrno === errno;
}

/** Identifies a map entry. */
function entryKey(family: 4 | 6, { map, key }: Pick<Entry, "map" | "key">): string {
  return `${family} ${map} ${key.join(".")}`;
}

/** The changes of one family that replace the installed rules. `takenEntries`: entries that belong to another attachment. */
function changesOf(installed: InstalledRules, owner: Owner, rules: Rules, takenEntries: ReadonlySet<string>): readonly Change[] {
  const { family, hasLayout } = installed;
  const table = { family };
  const wanted = chainRules(rules, (entry) => takenEntries.has(entryKey(family, entry)));
  const attachment = `${owner.containerId}/${owner.ifname}`;
  const layoutChanges =
    wanted.size === 0 || hasLayout
      ? []
      : layoutRequests(table).map((request) => ({
          request,
          action: `making the table ${PLEXUS_TABLE} of IPv${family}`,
          raceErrno: EEXIST,
        }));
  const chains = [...wanted].flatMap(([purpose, chain]): Change[] => {
    const name = chainName(purpose, owner);
    const action = `making the rules of ${attachment} (${purpose})`;
    return [
      { request: newChain(table, name), action, raceErrno: EEXIST },
      ...chain.map(({ expressions, comment }) => ({ request: newRule(table, name, expressions, comment), action })),
    ];
  });
  const additions = withPortMarks(entries(rules)).map((entry) => entryAddition(table, owner, entry, takenEntries));
  return [...layoutChanges, ...removal(installed, owner), ...chains, ...additions];
}

/** The changes that remove an attachment's chains, and the map elements and rules that lead to them. */
function removal(
  { family, chains, entries: installedEntries, jumps, idleMarks }: InstalledRules,
  owner: Owner,
): readonly Change[] {
  const table = { family };
  const names = [...chains].map((purpose) => chainName(purpose, owner));
  const requests = [
    ...installedEntries.map(({ map, key }) => deleteElement(table, map, key)),
    ...idleMarks.map((key) => deleteElement(table, "hostports", key)),
    ...jumps.map(({ chain, handle }) => deleteRules(table, chain, handle)),
    ...names.map((name) => deleteRules(table, name)),
    ...names.map((name) => deleteChain(table, name)),
  ];
  const action = `removing the rules of ${owner.containerId}/${owner.ifname}`;
  return requests.map((request) => ({ request, action, raceErrno: ENOENT }));
}

/**
 * Adds a mark to `hostports` for each port that is mapped only at single addresses of the node. The mark keeps other attachments from mapping
 * the port at all addresses: the kernel refuses a second element of the key with another verdict, but accepts an equal mark.
 */
function withPortMarks(all: readonly Entry[]): readonly Entry[] {
  const anywhere = new Set(all.filter(({ map }) => map === "hostports").map(({ key }) => key.join(".")));
  const marks = all
    .filter(({ map, key }) => map === "hostports-at" && !anywhere.has(portPart(key).join(".")))
    .map((entry): Entry => ({ ...entry, map: "hostports", key: portPart(entry.key), purpose: undefined }));
  return [...all, ...marks];
}

/** The change that leads packets to a chain: a map element, or a rule where the element belongs to another attachment. */
function entryAddition(table: IpTable, owner: Owner, entry: Entry, takenEntries: ReadonlySet<string>): Change | EntryChange {
  const attachment = `${owner.containerId}/${owner.ifname}`;
  const verdict: Verdict =
    entry.purpose === undefined ? { kind: "return" } : { kind: "jump", chain: chainName(entry.purpose, owner) };
  const { map, key, address } = entry;
  if ((map === "answers" || map === "sources") && address !== undefined && takenEntries.has(entryKey(table.family, entry))) {
    const direction = map === "answers" ? "destination" : "source";
    const expressions = [...addressIn(direction, "is", address), verdictExpression(verdict)];
    const action = `adding a rule for ${entry.text} of ${attachment} to the chain ${overflow[map]}`;
    return { request: newRule(table, overflow[map], expressions), action };
  }
  const action = `adding ${entry.text} of ${attachment} to the map ${map}`;
  return { request: newElement(table, { map, key, verdict }), action, entry, family: table.family };
}

/** The chain to which a port is mapped, at all addresses or at one. Undefined: the port has become free meanwhile. */
async function portHolder(shim: NetlinkShim, table: Table, { map, key }: Entry): Promise<Result<string | undefined>> {
  const element = await readElements(shim, table, map, key);
  if (!element.ok) return element;
  const [found] = element.value;
  if (found?.chain !== undefined || found === undefined) return ok(found?.chain);
  const atAddresses = await readElements(shim, table, "hostports-at");
  if (!atAddresses.ok) return atAddresses;
  return ok(atAddresses.value.find((each) => Buffer.compare(portPart(each.key), key) === 0)?.chain);
}

function portTaken(port: string, chain: string): Fault {
  return fault("HOST_PORT_TAKEN", `firewall: ${port} is already mapped to ${ownerText(chain)}`);
}

/** Whether exactly these rules are installed, and the maps lead packets to them. Fault: FIREWALL_FAILED. */
export async function check(shim: NetlinkShim, owner: Owner, rules: Rules): Promise<Result<boolean>> {
  const all = await readInstalled(shim, owner, "maps");
  if (!all.ok) return all;
  for (const installed of all.value) {
    const same = await areInstalled(shim, owner, installed, ofFamily(rules, installed.family));
    if (!same.ok || !same.value) return same;
  }
  return ok(true);
}

async function areInstalled(shim: NetlinkShim, owner: Owner, installed: InstalledRules, rules: Rules): Promise<Result<boolean>> {
  const wanted = chainRules(rules);
  if (wanted.size !== installed.chains.size || (wanted.size > 0 && !installed.hasLayout)) return ok(false);
  for (const [purpose, expected] of wanted) {
    const read = await readRules(shim, { family: installed.family }, chainName(purpose, owner));
    if (!read.ok) return read;
    const same = read.value.every(({ expressions }, index) => sameExpressions(expected[index]?.expressions ?? [], expressions));
    if (!same || read.value.length !== expected.length) return ok(false);
  }
  const installedKeys = new Set(installed.entries.map(({ map, key }) => `${map} ${key.join(".")}`));
  const missing = entries(rules).filter(({ map, key }) => !installedKeys.has(`${map} ${key.join(".")}`));
  return ok(missing.length === installed.jumps.length && missing.every(({ purpose }) => purpose !== "ports"));
}

/** Removes the rules of this delegate and network for attachments that are not in `valid`. Answers the attachments' parts of the chain names. */
export async function retain(
  shim: NetlinkShim,
  delegate: Pick<Owner, "type" | "network">,
  valid: readonly Pick<Owner, "containerId" | "ifname">[],
): Promise<Result<ReadonlySet<string>>> {
  const kept = new Set(valid.map(attachmentPart));
  const removed = new Set<string>();
  for (const family of families) {
    const stale = await staleChains(shim, { family }, delegate, kept);
    if (!stale.ok) return stale;
    if (stale.value.length === 0) continue;
    const names = stale.value.map(({ name }) => name);
    const references = await readReferences(shim, { family }, new Set(names));
    if (!references.ok) return references;
    const table = { family };
    const requests = [
      ...references.value.entries.map(({ map, key }) => deleteElement(table, map, key)),
      ...references.value.idleMarks.map((key) => deleteElement(table, "hostports", key)),
      ...references.value.jumps.map(({ chain, handle }) => deleteRules(table, chain, handle)),
      ...names.flatMap((name) => [deleteRules(table, name), deleteChain(table, name)]),
    ];
    const action = `removing the rules of attachments that are no longer in the network ${delegate.network}`;
    const refusals = await commit(
      shim,
      requests.map((request) => ({ request, action })),
    );
    if (!refusals.ok) return refusals;
    const [first] = refusals.value;
    if (first !== undefined) return failed(refusalFault(first));
    for (const { attachment } of stale.value) removed.add(attachment);
  }
  return ok(removed);
}

async function staleChains(
  shim: NetlinkShim,
  table: Table,
  delegate: Pick<Owner, "type" | "network">,
  kept: ReadonlySet<string>,
): Promise<Result<readonly { readonly name: string; readonly attachment: string }[]>> {
  const answers = await ask(shim, [chainsRequest(table)], "listing the chains");
  if (!answers.ok) return answers;
  const chains = answers.value.flatMap(({ messages }) => messages.flatMap((message) => chainIn(message) ?? []));
  const prefixes = purposes.map((purpose) => prefixOf(purpose, delegate));
  return ok(
    chains.flatMap(({ tableName, name }) => {
      const prefix = tableName === PLEXUS_TABLE ? prefixes.find((each) => name.startsWith(each)) : undefined;
      const attachment = prefix === undefined ? undefined : name.slice(prefix.length);
      return attachment === undefined || kept.has(attachment) ? [] : [{ name, attachment }];
    }),
  );
}

/** Checks that rules could be made: the kernel tries the layout without applying it. Fault: FIREWALL_FAILED. */
export async function probe(shim: NetlinkShim): Promise<Result<undefined>> {
  const generation = await ask(shim, [generationRequest()], "asking for nftables");
  if (!generation.ok) return generation;
  const changes = layoutRequests({ family: 4 }).map((request) => ({
    request,
    action: `making the table ${PLEXUS_TABLE} of IPv4`,
  }));
  const refusals = await commit(shim, changes, "try");
  if (!refusals.ok) return refusals;
  const [first] = refusals.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}
