// plexusctl pools show: the use of a cluster's pools of addresses by node and block, free addresses, and conflicts.

import { type PoolReport, poolReport } from "../rules/pool-report.ts";
import { ok } from "../../../src/fault/result.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { readPoolObjects } from "../import/pool-objects.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";

/** Runs `plexusctl pools show`. */
export async function showPoolsCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const read = await withCredentials(credentials, async (objects) => {
    const found = await readPoolObjects(objects);
    return found.ok ? ok(poolReport(found.value, line.args)) : found;
  });
  if (!read.ok) return failure(read.fault.msg);
  const report = read.value;
  const missing = line.args.filter((name) => !report.pools.some((pool) => pool.name === name));
  if (missing.length > 0) return failure(`there is no readable AddressPool ${missing.join(", ")}`);
  const names = (): readonly string[] => report.blocks.map(({ name }) => name);
  const text = (width: number): string => reportText(report, width, line.flags.has("blocks"));
  const isBad = report.conflicts.length > 0 || report.pools.some(({ conditions }) => !conditions.includes("Ready"));
  return { stdout: await printed({ value: report, text, names }, line), status: isBad ? 1 : 0 };
}

function reportText(report: PoolReport, width: number, withBlocks: boolean): string {
  const { pools, blocks, reservations, conflicts } = report;
  const lines = [...table(poolColumns, pools.map(poolRow), width)];
  const nodes = byNode(report);
  if (nodes.length > 0) lines.push("", ...table(nodeColumns, nodes, width));
  if (withBlocks && blocks.length > 0) {
    const rows = blocks.map(({ name, node, addresses, size, used, state }) => [name, node, addresses, `${used}/${size}`, state]);
    lines.push("", ...table(blockColumns, rows, width));
  }
  if (reservations.length > 0) {
    const rows = reservations.map(({ pool, address, owner, holders }) => [pool, address, owner, holders.join(", ")]);
    lines.push("", ...table(reservationColumns, rows, width));
  }
  const head = conflicts.length === 0 ? "no conflicts" : `${conflicts.length} conflicts:`;
  lines.push("", head, ...conflicts.flatMap((each) => wrap(`- ${each}`, width)));
  return `${lines.join("\n")}\n`;
}

const right = "right" as const;
const poolColumns = [
  { title: "POOL" },
  { title: "FREE", align: right },
  { title: "IN BLOCKS", align: right },
  { title: "BLOCKS", align: right },
  { title: "NODES", align: right },
  { title: "RESERVED", align: right },
  { title: "CONDITIONS" },
];
const nodeColumns = [
  { title: "NODE" },
  { title: "POOL" },
  { title: "BLOCKS", align: right },
  { title: "USED", align: right },
  { title: "STATE" },
];
const blockColumns = [
  { title: "BLOCK" },
  { title: "NODE" },
  { title: "ADDRESSES" },
  { title: "USED", align: right },
  { title: "STATE" },
];
const reservationColumns = [{ title: "POOL" }, { title: "ADDRESS" }, { title: "OWNER" }, { title: "HELD BY" }];

function poolRow({
  name,
  addresses,
  blocks,
  nodes,
  reserved,
  static: statics,
  conditions,
}: PoolReport["pools"][number]): readonly string[] {
  const free = addresses.map((each) => each.free).join(", ");
  const inBlocks = addresses.map((each) => each.inBlocks).join(", ");
  return [name, free, inBlocks, String(blocks), String(nodes), `${reserved}/${statics}`, conditions.join(", ") || "none"];
}

/** Each node's use of each pool. */
function byNode({ blocks }: PoolReport): readonly (readonly string[])[] {
  const rows = new Map<string, { node: string; pool: string; blocks: number; used: number; size: bigint; states: Set<string> }>();
  for (const { node, pool, used, size, state } of blocks) {
    const key = `${node} ${pool}`;
    const row = rows.get(key) ?? { node, pool, blocks: 0, used: 0, size: 0n, states: new Set<string>() };
    rows.set(key, row);
    row.blocks += 1;
    row.used += used;
    row.size += BigInt(size);
    row.states.add(state);
  }
  return [...rows.values()].map(({ node, pool, blocks: count, used, size, states }) => {
    return [node, pool, String(count), `${used}/${size}`, [...states].join(", ")];
  });
}
