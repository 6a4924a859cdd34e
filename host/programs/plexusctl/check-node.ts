// plexusctl doctor without options: whether this node can run Plexus.

import { closeSync, openSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Severity } from "../../../src/lint/rules.ts";
import { kernelProbes } from "../../../features/list.ts";
import type { NodeCheck } from "../../node/doctor/node-check.ts";
import { kernelRemedy } from "../../node/doctor/kernel-remedy.ts";
import { checkNode } from "../../node/doctor/node-checks.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { nodePlacesOf, type NodePlaces } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { readStatus } from "./read-status.ts";
import { findingLines } from "./finding-text.ts";
import { table } from "../../node/command-line/table.ts";

const timeoutMs = 5000;
/** The mark of a check by its finding's severity. */
const marks: Readonly<Record<Severity, string>> = { error: "NO", warning: "warning", note: "ok" };

/** The document of `plexusctl doctor -o json`. */
export interface NodeChecks {
  readonly apiVersion: "plexus/v1";
  readonly kind: "NodeChecks";
  /** Whether no check has failed. */
  readonly isAble: boolean;
  readonly checks: readonly NodeCheck[];
}

/** Runs `plexusctl doctor`. Status 1: a check has failed. */
export async function checkNodeCommand(line: Invocation): Promise<CommandResult> {
  const value = await checkThisNode(nodePlacesOf(line));
  const { checks, isAble } = value;
  const text = (width: number): string => checksText(checks, isAble, width);
  return { stdout: await printed({ value, text, names: () => checks.map(({ name }) => name) }, line), status: isAble ? 0 : 1 };
}

/** Runs the checks on this node; never rejects. */
export async function checkThisNode(places: NodePlaces): Promise<NodeChecks> {
  const { silent } = await readStatus(places.statusSocket, places.stateDir);
  const checks = await checkNode({
    home: dirname(realpathSync(process.argv[1] ?? "")),
    nodeVersion: process.versions.node,
    ...places,
    silent,
    agents: silent === undefined ? await connectedAgents(places.statusSocket) : undefined,
    loadLibrary: await libraryLoader(),
    kernelRemedy: kernelRemedy(process.env, places),
    featureProbes: kernelProbes,
  });
  return {
    apiVersion: "plexus/v1",
    kind: "NodeChecks",
    isAble: checks.every(({ finding }) => finding?.severity !== "error"),
    checks,
  };
}

function checksText(checks: readonly NodeCheck[], isAble: boolean, width: number): string {
  const rows = checks.map(({ name, found, finding }) => [finding === null ? "ok" : marks[finding.severity], name, found]);
  const remedies = checks.flatMap(({ name, finding }) => (finding === null ? [] : findingLines(finding, name, width)));
  const head = isAble ? "This node can run Plexus." : "This node CANNOT run Plexus.";
  return `${[head, ...table([{ title: "" }, { title: "CHECK" }, { title: "FOUND" }], rows, width), ...remedies].join("\n")}\n`;
}

async function connectedAgents(socketPath: string): Promise<number | undefined> {
  const answer = await askDaemon({ socketPath, method: "GET", path: "/metrics", timeoutMs });
  const found = "why" in answer ? undefined : /^plexus_agents (\d+)$/m.exec(answer.body)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Takes and frees a lock through the C library, as the engine does. */
async function libraryLoader(): Promise<() => string | undefined> {
  try {
    const { tryFlock, unlockFlock } = await import("../../system/libc/libc.ts");
    return () => {
      const file = openSync("/proc/self/exe", "r");
      try {
        tryFlock(file, true);
        unlockFlock(file);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      } finally {
        closeSync(file);
      }
    };
  } catch (error) {
    return () => (error instanceof Error ? error.message : String(error));
  }
}
