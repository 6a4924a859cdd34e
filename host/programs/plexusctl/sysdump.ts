// plexusctl sysdump: one archive about this node for a report, without secrets.

import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { readHostSettings } from "../../node/explain/host-settings.ts";
import { lint } from "../../node/lint/lint.ts";
import { dumpedTraces } from "../../node/sysdump/dumped-traces.ts";
import { sysdump, type DumpSources } from "../../node/sysdump/sysdump.ts";
import { refusalOf, writeOutputFile } from "../../store/files/output-file.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";
import { checkThisNode } from "./check-node.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { nodePlacesOf, type NodePlaces, notAbsolute } from "../../node/command-line/common-options.ts";
import { explainTarget } from "./explain.ts";
import { readCalls } from "./read-calls.ts";
import { readStatus } from "./read-status.ts";
import { traceDirectories } from "./trace-directories.ts";

const timeoutMs = 5000;
const mebibyte = 1024 * 1024;
/** Traces get this part of a dump, so that they leave space for the logs. */
const traceShare = 8;
/** Maximum findings of lint. They are sorted by file and place. */
const maxFindings = 500;

/** Runs `plexusctl sysdump`. */
export async function sysdumpCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readSysdumpOptions(line);
  if ("wrong" in options) return options;
  // Making a dump takes seconds, so a place where it cannot be written is refused before.
  const refusal = options.output === "-" ? undefined : refusalOf(options.output, false);
  if (refusal !== undefined) return failure(`${options.output}: ${refusal} with -o`);
  const { archive, leftOut } = await sysdump(await dumpOf(options));
  if (options.output === "-") {
    // Not writeSync: a pipe may be non-blocking, and its reader may be gone.
    await new Promise<void>((done) => process.stdout.write(archive, () => done()));
    return { stdout: "", status: 0 };
  }
  const written = writeOutputFile(options.output, archive, false);
  if (!written.ok) return failure(written.fault.msg);
  const text = `${options.output}: ${archive.length} bytes; left out: ${leftOut.length} (see contents.json)`;
  return { stdout: `${text}\n`, status: 0 };
}

interface SysdumpOptions extends NodePlaces {
  readonly output: string;
  readonly maxBytes: number;
}

async function dumpOf({ statusSocket, stateDir, config, cniPath, maxBytes }: SysdumpOptions): Promise<DumpSources> {
  const settings = readHostSettings(config, cniPath);
  const configuration = settings.ok ? settings.value?.configuration : undefined;
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  const { document } = await readStatus(statusSocket, stateDir);
  const stateDirectories = [stateDir, ...document.nodes.map(({ stateDirectory }) => stateDirectory)];
  const metrics = async (): Promise<string> => {
    const answer = await askDaemon({ socketPath: statusSocket, method: "GET", path: "/metrics", timeoutMs });
    if ("why" in answer) throw new Error(answer.why);
    return answer.body;
  };
  const doctor = async (): Promise<unknown> => {
    const { diagnose } = await import("./doctor.ts");
    return diagnose({ statusSocket, stateDir, isolation: undefined, sandboxUids: defaultUids });
  };
  const calls = async (): Promise<unknown> => {
    const known = await readCalls(statusSocket);
    if ("why" in known) throw new Error(known.why);
    return { calls: known.value };
  };
  return {
    documents: [
      { name: "status.json", read: async () => document },
      { name: "node-checks.json", read: async () => checkThisNode({ statusSocket, stateDir, config, cniPath }) },
      { name: "doctor.json", read: doctor },
      { name: "lint.json", read: async () => lintOf(config, cniPath) },
      { name: "explanation.json", read: async () => explanationOf(config, cniPath) },
      { name: "calls.json", read: calls },
      ...dumpedTraces(traceDirectories({ config, cniPath }, stateDirectories), Math.floor(maxBytes / traceShare)),
      { name: "metrics.txt", read: metrics },
    ],
    configurationDirectories: [
      ...new Set([config, "/etc/plexus", dirname(configuration?.kubeconfig ?? "/etc/plexus/kubeconfig")]),
    ],
    listedDirectories: [...cniPath.split(":").filter(isAbsolute), home, stateDir, dirname(statusSocket)],
    logs: [configuration?.logFile ?? ""].filter((path) => path !== ""),
    maxBytes,
  };
}

/** The findings of `plexusctl lint --node`. */
async function lintOf(config: string, cniPath: string): Promise<unknown> {
  const { findings, ...report } = await lint({ files: [], node: true, objects: [], config, cniPath });
  const leftOut = Math.max(0, findings.length - maxFindings);
  return { ...report, findings: findings.slice(0, maxFindings), leftOut };
}

/** The networks of the host configuration: each step's plugin, grants and rules. */
async function explanationOf(config: string, cniPath: string): Promise<unknown> {
  const explanation = await explainTarget(undefined, config, cniPath);
  if (!explanation.ok) throw new Error(explanation.fault.msg);
  return explanation.value;
}

function readSysdumpOptions(line: Invocation): SysdumpOptions | CommandLineMistake {
  const maxMib = valueOf(line, "max-mib") ?? "20";
  const mebibytes = Number(maxMib);
  if (!Number.isInteger(mebibytes) || mebibytes < 1 || mebibytes > 1000)
    return { wrong: `--max-mib ${maxMib}: must be a number from 1 to 1000` };
  const wrong = notAbsolute(line, "status-socket", "state-dir", "config");
  if (wrong !== undefined) return wrong;
  const output = valueOf(line, "output");
  return {
    output: output === "-" ? "-" : resolve(output ?? `plexus-sysdump-${hostname()}.tar.gz`),
    maxBytes: mebibytes * mebibyte,
    ...nodePlacesOf(line),
  };
}
