// plexusctl services tables: what the tables of this node's pods have.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../../host/node/command-line/common-options.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import { type ServiceTables, serviceTablesPath } from "../rules/table-report.ts";

const patienceMs = 10_000;
const columns = ["POD", "SERVICE", "ADDRESS", "PORT", "ENDPOINTS"].map((title) => ({ title }));

/** Runs `plexusctl services tables`. */
export async function showTablesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const query = new URLSearchParams(line.args.map((pod) => ["pod", pod])).toString();
  const path = query === "" ? serviceTablesPath : `${serviceTablesPath}?${query}`;
  const answer = await askDaemon({ socketPath: statusSocketOf(line), method: "GET", path, patienceMs });
  if ("why" in answer) return failure(answer.why);
  const report = boundedJson(answer.body);
  if (!isReport(report)) return failure("this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?");
  if (!report.isOn) return failure("Services are off on this node: set the key services in Plexus' configuration");
  const { pods } = report;
  const unknown = line.args.filter((name) => pods.every(({ pod }) => pod !== name));
  const problems = [
    ...pods.flatMap(({ pod, failure: why }) => (why === undefined ? [] : [`${pod}: ${why}`])),
    ...unknown.map((pod) => `${pod}: this node has no attachment of it`),
  ];
  const text = (width: number): string => {
    const rows = pods.flatMap(({ pod, ports }) =>
      ports.map(({ service, address, protocol, port, endpoints }) => {
        return [pod, service, address, `${port}/${protocol}`, endpoints.join(", ") || "none: refused"];
      }),
    );
    const list = rows.length === 0 ? ["no table of Services"] : table(columns, rows, width);
    const notes = problems.flatMap((each) => wrap(`- ${each}`, width));
    return `${[...list, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n")}\n`;
  };
  const names = (): readonly string[] => pods.flatMap(({ pod, ports }) => (ports.length > 0 ? [pod] : []));
  return { stdout: await printed({ value: report, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}

function isReport(value: unknown): value is ServiceTables {
  if (!isJsonObject(value) || value["kind"] !== "ServiceTables" || typeof value["isOn"] !== "boolean") return false;
  const { pods } = value;
  return Array.isArray(pods) && pods.every((each) => isJsonObject(each) && typeof each["pod"] === "string" && hasPorts(each));
}

function hasPorts({ ports }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(ports) && ports.every((each) => isJsonObject(each) && Array.isArray(each["endpoints"]));
}
