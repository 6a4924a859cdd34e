// plexusctl probe: asks a network from a pod of this node.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../../host/node/command-line/common-options.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import { probePath } from "../resident.ts";
import { outcomeText, type ProbedTarget, probeOutcomes, type ProbeReport, probeWarnings } from "../rules/probe-report.ts";

/** A probe of 64 targets takes 20 s. */
const timeoutMs = 60_000;
/** Maximum length of a line, in UTF-16 units. */
const maxLine = 1024;
const columns = ["TARGET", "ADDRESS", "NEIGHBOUR", "RESULT"].map((title) => ({ title }));

/** Runs `plexusctl probe`. */
export async function probeCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const [pod = "", network = "", ...addresses] = line.args;
  const query = new URLSearchParams([["pod", pod], ["network", network], ...addresses.map((each) => ["address", each])]);
  const path = `${probePath}?${query.toString()}`;
  const answer = await askDaemon({ socketPath: statusSocketOf(line), method: "POST", path, timeoutMs });
  if ("why" in answer) return failure(answer.why);
  const report = boundedJson(answer.body);
  if (isJsonObject(report) && typeof report["why"] === "string") return failure(inertLine(report["why"], maxLine));
  if (!isReport(report)) return failure("this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?");
  const { ifname, mtu, targets } = report;
  const text = (width: number): string => {
    const rows = targets.map((each) => [each.what, each.address, each.mac ?? "", outcomeText(each)]);
    const list = rows.length === 0 ? ["no other addresses are known: name some"] : table(columns, rows, width);
    const warnings = probeWarnings(report).flatMap((each) => wrap(`- ${each}`, width));
    const below = warnings.length === 0 ? [] : ["", ...warnings];
    const head = inertLine(`${report.pod} ${ifname} on ${report.network}, MTU ${mtu}`, maxLine);
    return `${[head, "", ...list, ...below].join("\n")}\n`;
  };
  const silent = targets.filter(({ outcome }) => outcome !== "answers");
  const names = (): readonly string[] => silent.map(({ address }) => address);
  const isWrong = silent.length > 0 || probeWarnings(report).length > 0;
  return { stdout: await printed({ value: report, text, names }, line), status: isWrong ? 1 : 0 };
}

function isReport(value: unknown): value is ProbeReport {
  if (!isJsonObject(value) || value["kind"] !== "NetworkProbe" || typeof value["mtu"] !== "number") return false;
  const targets = value["targets"];
  return (
    ["pod", "network", "ifname"].every((name) => typeof value[name] === "string") &&
    Array.isArray(targets) &&
    targets.every(isTarget) &&
    isTextList(value["policyProblems"] ?? [])
  );
}

function isTarget(each: unknown): each is ProbedTarget {
  if (!isJsonObject(each) || typeof each["what"] !== "string" || typeof each["address"] !== "string") return false;
  const forbidden = each["forbidden"] ?? [];
  if (!Array.isArray(forbidden) || !forbidden.every(isForbidding)) return false;
  return typeof each["bytes"] === "number" && probeOutcomes.some((outcome) => outcome === each["outcome"]);
}

function isForbidding(one: unknown): boolean {
  if (!isJsonObject(one) || typeof one["pod"] !== "string") return false;
  return (one["side"] === "egress" || one["side"] === "ingress") && isTextList(one["policies"]);
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
