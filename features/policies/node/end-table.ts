// The table at the node's ends of a pod's veths, in the node's network namespace: made, changed, and removed. A pod has one table, so that its removal is one
// message. A change keeps the flows that the table knows: without them, replies of open connections would be dropped.

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { EEXIST, ENOENT } from "../../../host/system/errno.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { refusalText } from "../../../host/capabilities/firewall/installed-rules.ts";
import { ask, encodeBatch, failure, type NetlinkShim, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import {
  chainsRequest,
  deleteChain,
  deleteTable,
  flushTable,
  newTable,
  tablesRequest,
} from "../../../host/capabilities/firewall/nf-tables.ts";
import { chainIn, setNameIn, tableNameIn } from "../../../host/capabilities/firewall/nf-answers.ts";
import { deleteSet, setsRequest } from "../../../host/capabilities/firewall/nf-sets.ts";
import type { NamedSet, PolicyTable } from "../rules/table.ts";
import { changeRequests, type PlacedTable, send, type TableRefusal, tableRequests } from "./table-messages.ts";

const prefix = "plexus-policies-";
/** Hexadecimal digits of the hash of a state directory: containers of another directory are not this daemon's. */
const hashDigits = 8;
const writing =
  "writing the policies at the node's end of the pod's veth (Linux 5.16 or newer with NETFILTER_EGRESS and NF_TABLES_NETDEV)";

/** The table of a container of a state directory. */
export function endTable(cniDir: string, containerId: string): PlacedTable {
  return { family: "netdev", name: `${namePrefix(cniDir)}${containerId}` };
}

function namePrefix(cniDir: string): string {
  return `${prefix}${createHash("sha256").update(resolve(cniDir)).digest("hex").slice(0, hashDigits)}-`;
}

/** Makes the table, or brings it up to date. `before`: the table that is known to be in the kernel; undefined: unknown. Fault: FIREWALL_FAILED. */
export async function writeEnds(
  shim: NetlinkShim,
  at: PlacedTable,
  before: PolicyTable | undefined,
  after: PolicyTable,
  anew: boolean,
): Promise<Result<void>> {
  const changes = anew || before === undefined ? undefined : changeRequests(at, before, after);
  if (changes?.length === 0) return ok(undefined);
  if (changes !== undefined) {
    const refused = await send(shim, "", encodeBatch(changes), "changing the peers at the node's end of the pod's veth");
    if (!refused.ok || refused.value === undefined) return refused.ok ? ok(undefined) : refused;
    if (refused.value.errno !== ENOENT) return failed(refusalFault(refused.value));
  }
  const made = await send(shim, "", encodeBatch([newTable(at, true), ...tableRequests(at, after)]), writing);
  if (!made.ok) return made;
  return made.value?.errno === EEXIST ? rewrite(shim, at, after) : outcomeOf(made.value);
}

/** Writes all but the flows anew, in one batch. */
async function rewrite(shim: NetlinkShim, at: PlacedTable, after: PolicyTable): Promise<Result<void>> {
  const present = await partsOf(shim, at);
  if (!present.ok) return present;
  const kept = new Set(after.sets.filter(isNoted).map(({ name }) => name));
  const removal = [
    flushTable(at),
    ...present.value.chains.map((name) => deleteChain(at, name)),
    ...present.value.sets.filter((name) => !kept.has(name)).map((name) => deleteSet(at, name)),
  ];
  const rewritten = await send(shim, "", encodeBatch([...removal, ...tableRequests(at, after)]), writing);
  return rewritten.ok ? outcomeOf(rewritten.value) : rewritten;
}

function isNoted({ kind }: NamedSet): boolean {
  return kind === "flow" || kind === "fragment";
}

interface PresentParts {
  readonly chains: readonly string[];
  readonly sets: readonly string[];
}

async function partsOf(shim: NetlinkShim, at: PlacedTable): Promise<Result<PresentParts>> {
  const chains = await dump(shim, chainsRequest(at), "listing the chains of the node's devices");
  if (!chains.ok) return chains;
  const sets = await dump(shim, setsRequest(at), "listing the sets of the node's devices");
  if (!sets.ok) return sets;
  return ok({
    chains: chains.value
      .flatMap((message) => chainIn(message) ?? [])
      .flatMap((each) => (each.tableName === at.name ? [each.name] : [])),
    sets: sets.value.flatMap((message) => setNameIn(message) ?? []),
  });
}

/** Removes the table; it need not exist. Fault: FIREWALL_FAILED. */
export async function removeEnds(shim: NetlinkShim, at: PlacedTable): Promise<Result<void>> {
  // A removal waits for the kernel; where no table is there, the request costs nothing.
  const removed = await send(
    shim,
    "",
    encodeBatch([deleteTable(at)]),
    "removing the policies at the node's end of the pod's veth",
  );
  if (!removed.ok) return removed;
  return removed.value?.errno === ENOENT ? ok(undefined) : outcomeOf(removed.value);
}

/** The containers of a state directory that have a table. A kernel without such tables has none. Fault: FIREWALL_FAILED. */
export async function containersWithEnds(shim: NetlinkShim, cniDir: string): Promise<Result<readonly string[]>> {
  const tables = await dump(shim, tablesRequest("netdev"), "listing the tables of the node's devices");
  if (!tables.ok) return tables;
  const own = namePrefix(cniDir);
  const names = tables.value.flatMap((message) => tableNameIn(message) ?? []);
  return ok(names.flatMap((name) => (name.startsWith(own) ? [name.slice(own.length)] : [])));
}

async function dump(shim: NetlinkShim, request: NetlinkRequest, action: string): Promise<Result<NetlinkAnswer["messages"]>> {
  const answers = await ask(shim, [request], action);
  if (!answers.ok) return answers;
  const [answer] = answers.value;
  if (answer === undefined || answer.errno === 0) return ok(answer?.messages ?? []);
  return answer.errno === ENOENT ? ok([]) : failed(failure(action, refusalText(answer)));
}

function outcomeOf(refused: TableRefusal | undefined): Result<void> {
  return refused === undefined ? ok(undefined) : failed(refusalFault(refused));
}
