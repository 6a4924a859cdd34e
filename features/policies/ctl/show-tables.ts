// plexusctl policies tables: what the tables of this node's pods have.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../../host/node/command-line/common-options.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import { type PolicyTables, policyTablesPath } from "../rules/table-report.ts";

const patienceMs = 10_000;
const columns = ["POD", "INTERFACE", "NETWORK", "DIRECTION", "POLICIES (PEERS)"].map((title) => ({ title }));

/** Runs `plexusctl policies tables`. */
export async function showTablesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const query = new URLSearchParams(line.args.map((pod) => ["pod", pod])).toString();
  const path = query === "" ? policyTablesPath : `${policyTablesPath}?${query}`;
  const answer = await askDaemon({ socketPath: statusSocketOf(line), method: "GET", path, patienceMs });
  if ("why" in answer) return failure(answer.why);
  const report = boundedJson(answer.body);
  if (!isReport(report)) return failure("this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?");
  if (!report.isOn) return failure("policies are off on this node: set the key policies in Plexus' configuration");
  const { pods } = report;
  const unknown = line.args.filter((name) => pods.every(({ pod }) => pod !== name));
  const problems = [
    ...pods.flatMap(({ pod, failure: why }) => (why === undefined ? [] : [`${pod}: ${why}`])),
    ...unknown.map((pod) => `${pod}: this node has no attachment of it`),
  ];
  const text = (width: number): string => {
    const rows = pods.flatMap(({ pod, isolated }) =>
      isolated.map(({ ifname, network, direction, policies }) => {
        const named = policies.map(({ policy, peers }) => `${policy} (${peers})`);
        return [pod, ifname, network, direction, named.join(", ")];
      }),
    );
    const list = rows.length === 0 ? ["no table of policies"] : table(columns, rows, width);
    const notes = problems.flatMap((each) => wrap(`- ${each}`, width));
    return `${[...list, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n")}\n`;
  };
  const names = (): readonly string[] => pods.flatMap(({ pod, isolated }) => (isolated.length > 0 ? [pod] : []));
  return { stdout: await printed({ value: report, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}

function isReport(value: unknown): value is PolicyTables {
  if (!isJsonObject(value) || value["kind"] !== "PolicyTables" || typeof value["isOn"] !== "boolean") return false;
  const { pods } = value;
  return Array.isArray(pods) && pods.every((each) => isJsonObject(each) && typeof each["pod"] === "string" && isIsolated(each));
}

function isIsolated({ isolated }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(isolated) && isolated.every((each) => isJsonObject(each) && Array.isArray(each["policies"]));
}
