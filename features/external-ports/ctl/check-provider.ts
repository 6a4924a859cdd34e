// plexusctl provider conformance: runs the checks of providers against a URL.

import { readFile } from "node:fs/promises";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { junitText } from "../../../src/test-report/junit.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { providerChecks } from "../conformance/catalogue.ts";
import type { ProviderCheck } from "../conformance/check.ts";
import type { LabInit } from "../conformance/lab.ts";
import { countOf, type ProviderReport, runProviderChecks } from "../conformance/run-checks.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { wrap } from "../../../host/node/command-line/table.ts";
import { objectIn } from "../rules/values.ts";

/** plexus-controller waits so long for an answer, in ms. */
const answerMs = 10_000;
/** Where the rules stand. */
const rules = "docs/how-to/write-a-provider.md";
/** Maximum length of a reason, in UTF-16 units. */
const maxReason = 1000;

type Settings = Omit<LabInit, "token" | "answerMs"> & { readonly checks: readonly ProviderCheck[] };

/** Runs `plexusctl provider conformance`. Status 1: a check failed, or a port remains. */
export async function checkProviderCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const settings = settingsOf(line);
  if ("wrong" in settings) return settings;
  const tokenFile = valueOf(line, "token-file");
  let token: string | undefined;
  try {
    token = tokenFile === undefined ? undefined : (await readFile(tokenFile, "utf8")).trim();
  } catch (error) {
    return failure(`--token-file ${tokenFile}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (token !== undefined && !/^[ -~]{1,4096}$/.test(token)) return failure(`--token-file ${tokenFile}: the file has no token`);
  const { checks, ...init } = settings;
  const report = await runProviderChecks({ ...init, token, answerMs }, checks);
  const status = countOf(report, "failed") + report.remaining.length > 0 ? 1 : 0;
  if (line.flags.has("junit")) return { stdout: `${junitOf(report)}\n`, status };
  const names = (): readonly string[] =>
    report.outcomes.flatMap(({ check, verdict }) => (verdict === "failed" ? [check.id] : []));
  const text = (width: number): string => reportText(report, width);
  return { stdout: await printed({ value: documentOf(report), text, names }, line), status };
}

function settingsOf(line: Invocation): Settings | CommandLineMistake {
  const [url = ""] = line.args;
  if (!URL.canParse(url) || !/^https?:\/\/[^@]+$/.test(url)) {
    return { wrong: `${url}: must be a URL that begins with http:// or https://, without user name` };
  }
  if (line.flags.has("junit") && valueOf(line, "output") !== undefined) return { wrong: "--junit: -o is not possible with it" };
  const owner = valueOf(line, "owner") ?? "plexus-conformance";
  // The longest name must leave space for the suffix of another owner.
  if (!/^[a-z0-9][a-z0-9.-]{0,33}$/.test(owner)) {
    return { wrong: `--owner ${owner}: must have lower-case letters, digits, "." and "-", at most 34 characters` };
  }
  const ports = Number(valueOf(line, "ports") ?? "8");
  if (!Number.isInteger(ports) || ports < 2 || ports > 1000)
    return { wrong: `--ports ${valueOf(line, "ports")}: must be 2 to 1000` };
  const parameters = objectIn(valueOf(line, "parameters") ?? "{}");
  if (parameters === undefined) return { wrong: "--parameters: must be a JSON object" };
  const forbidden = (line.values.get("bad-parameters") ?? []).map(objectIn);
  if (!forbidden.every((each) => each !== undefined)) return { wrong: "--bad-parameters: must be a JSON object" };
  const checks = checksOf(valueOf(line, "only"));
  if ("wrong" in checks) return checks;
  return { url, owner, ports, parameters, forbidden, nodeName: valueOf(line, "node") ?? "node-1", checks };
}

function checksOf(only: string | undefined): readonly ProviderCheck[] | CommandLineMistake {
  if (only === undefined) return providerChecks;
  const ids = only.split(",").map((id) => id.trim());
  const unknown = ids.filter((id) => !providerChecks.some((check) => check.id === id));
  if (unknown.length > 0)
    return { wrong: `--only: no check ${unknown.join(", ")}: docs/reference/provider-checks.md lists them` };
  return providerChecks.filter(({ id }) => ids.includes(id));
}

function documentOf(report: ProviderReport): object {
  const { url, outcomes, remaining } = report;
  return {
    apiVersion: "plexus/v1",
    kind: "ProviderConformanceReport",
    url,
    passed: countOf(report, "passed"),
    failed: countOf(report, "failed"),
    skipped: countOf(report, "skipped"),
    checks: outcomes.map(({ check: { id, title }, verdict, why, ms }) => {
      return { id, title, verdict, ...(why === "" ? {} : { why }), ms: Math.round(ms) };
    }),
    remaining,
  };
}

function junitOf({ url, outcomes }: ProviderReport): string {
  const cases = outcomes.map(({ check, verdict, why, ms }) => {
    return { name: `${check.id} ${check.title}`, verdict, why, reference: rules, ms };
  });
  return junitText({ name: `Conformance of the provider ${url}`, group: "plexus.provider", cases });
}

function reportText(report: ProviderReport, width: number): string {
  const lines = report.outcomes.flatMap(({ check: { id, title }, verdict, why }) => {
    const word = verdict === "failed" ? "FAILED" : verdict;
    const indent = " ".repeat(16);
    const shown = (text: string): readonly string[] => wrap(inertLine(text, maxReason), Math.max(40, width - indent.length));
    const [first = "", ...rest] = shown(title);
    const reason = why === "" ? [] : shown(why).map((each) => `${indent}${each}`);
    return [`${word.padEnd(7)}  ${id.padEnd(5)}  ${first}`, ...rest.map((each) => `${indent}${each}`), ...reason];
  });
  const [passed, failed, skipped] = (["passed", "failed", "skipped"] as const).map((verdict) => countOf(report, verdict));
  const sum = `${report.outcomes.length} checks of ${inertLine(report.url, maxReason)}: ${passed} passed, ${failed} failed, ${skipped} skipped`;
  const left = report.remaining.map(({ key, providerId }) =>
    inertLine(`the port ${key} may remain${providerId === "" ? "" : ` (${providerId})`}`, maxReason),
  );
  return `${[...lines, "", ...left, sum].join("\n")}\n`;
}
