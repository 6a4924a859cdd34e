// Replaces, compares and removes the rules of one attachment. Each change is one nftables batch, which comes into force as a whole or not at
// all. Other tables and other attachments' rules stay unchanged.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { EBUSY, EEXIST, EINTR, ERESTART } from "../../system/errno.ts";
import { type EntryChange, entryKey, replacing } from "./changes.ts";
import { deleteEarlierFlows, deleteFlowsThrough } from "./conntrack.ts";
import { sameExpressions } from "./expressions.ts";
import { isHeld, type PortConflict } from "./host-ports.ts";
import { type InstalledRules, readInstalled, readRules } from "./installed-rules.ts";
import { ask, type NetlinkShim, type Change, commit, failure, refusalFault, type Refusal } from "./kernel.ts";
import { layoutRequests } from "./layout.ts";
import type { PortMapping } from "./mappings.ts";
import { enableRouteLocalnet } from "./route-localnet.ts";
import { generationRequest } from "./nf-tables.ts";
import { PLEXUS_TABLE } from "./nf-request.ts";
import { chainName, type Owner, ownerText } from "./owner.ts";
import { mappingText } from "./rule-comments.ts";
import { chainRules, entries, ofFamily, portKey, portKeyText, type Rules } from "./rules.ts";

/** Maximum number of attempts at a change that concurrent changes prevent. */
const maxAttempts = 8;

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
  const leading = rules.portMappings.filter((mapping) => !changed.value.has(sharedPort(mapping)));
  await deleteEarlierFlows(shim, leading);
  return ok(undefined);
}

/** Removes the attachment's rules; it need not have any. Fault: FIREWALL_FAILED. */
export async function remove(shim: NetlinkShim, owner: Owner): Promise<Result<undefined>> {
  const changed = await change(shim, owner, { masquerades: [], portMappings: [] });
  return changed.ok ? ok(undefined) : changed;
}

/** Answers the ports that lead to another attachment of the container, by `sharedPort`. */
async function change(shim: NetlinkShim, owner: Owner, rules: Rules): Promise<Result<ReadonlySet<string>>> {
  /** Map entries of addresses that belong to another attachment. */
  const takenEntries = new Set<string>();
  let last: Refusal | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await readInstalled(shim, owner, attempt === 0 ? "comments" : "maps");
    if (!before.ok) return before;
    const planned = plan(before.value, owner, rules, takenEntries);
    if (!planned.ok) return planned;
    const sent = await send(shim, planned.value);
    if (!sent.ok) return sent;
    const [first] = sent.value;
    if (first === undefined) return ok(planned.value.sharedPorts);
    last = first;
    const taken = sent.value.filter(isTaken);
    // The next attempt reads who has a taken port.
    for (const { change: entryChange } of taken) takenEntries.add(entryKey(entryChange.family, entryChange.entry));
    if (taken.length === 0 && !isRace(first)) return failed(refusalFault(first));
  }
  return failed(
    last === undefined ? failure("changing the rules", `none of ${maxAttempts} attempts succeeded`) : refusalFault(last),
  );
}

/** The batches of a change, and what belongs to them. */
interface Plan {
  readonly batches: readonly (readonly Change[])[];
  /** Mappings that the first batch removes. */
  readonly removed: readonly PortMapping[];
  readonly sharedPorts: ReadonlySet<string>;
}

function plan(all: readonly InstalledRules[], owner: Owner, rules: Rules, takenEntries: ReadonlySet<string>): Result<Plan> {
  const [detaching, attaching]: [Change[], Change[]] = [[], []];
  const sharedPorts = new Set<string>();
  for (const installed of all) {
    const changes = replacing(installed, owner, ofFamily(rules, installed.family), takenEntries);
    if ("holder" in changes) return failed(portTaken(changes));
    detaching.push(...changes.detaching);
    attaching.push(...changes.attaching);
    for (const port of changes.sharedPorts) sharedPorts.add(`${installed.family} ${port}`);
  }
  const kept = new Set(rules.portMappings.map(mappingText));
  const removed = all.flatMap(({ portMappings }) => portMappings.filter((mapping) => !kept.has(mappingText(mapping))));
  // The chains of a removed attachment go last: their comments tell the successor of an interrupted DEL which flows to delete.
  const isRemoval = rules.masquerades.length === 0 && rules.portMappings.length === 0 && removed.length > 0;
  const batches = isRemoval ? [detaching, attaching] : [[...detaching, ...attaching]];
  return ok({ batches: batches.filter((batch) => batch.length > 0), removed, sharedPorts });
}

/** Sends the batches until one is refused, and deletes the flows through removed mappings after the first. Answers the refusals. */
async function send(shim: NetlinkShim, { batches, removed }: Plan): Promise<Result<readonly Refusal[]>> {
  for (const [index, batch] of batches.entries()) {
    const refusals = await commit(shim, batch);
    if (!refusals.ok || refusals.value.length > 0) return refusals;
    if (index === 0) await deleteFlowsThrough(shim, removed);
  }
  return ok([]);
}

/** Identifies a port of one family. */
function sharedPort(mapping: PortMapping): string {
  return `${mapping.pod.address.family} ${portKeyText(portKey(mapping))}`;
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

function portTaken({ port, holder }: PortConflict): Fault {
  const [protocol, at = "any", number] = portKeyText(port.key).split(" ");
  const text = `host port ${number}/${protocol}${at === "any" ? "" : ` of ${at}`}`;
  return fault("HOST_PORT_TAKEN", `firewall: ${text} is already mapped to ${ownerText(holder)}`);
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
  const { family } = installed;
  const installedKeys = new Set(installed.entries.map((entry) => entryKey(family, entry)));
  const [ports, addresses] = [true, false].map((ofPorts) =>
    entries(rules).filter(({ purpose }) => (purpose === "ports") === ofPorts),
  );
  const missing = addresses?.filter((entry) => !installedKeys.has(entryKey(family, entry))) ?? [];
  const chain = chainName("ports", owner);
  const { elements = [], shares = [] } = installed.ports ?? {};
  const leads = ports?.every((entry) => isHeld({ elements, shares }, entry, chain)) ?? true;
  return ok(leads && missing.length === installed.jumps.length);
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
