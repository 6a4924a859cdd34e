// plexusctl sysdump: one archive about this node for a report, without secrets.

import { closeSync, openSync, realpathSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { defaultUids } from "../../../src/configuration/wasm-configuration.ts";
import { readHostSettings } from "../../node/explain/host-settings.ts";
import { sysdump, type SysdumpInit } from "../../node/sysdump/sysdump.ts";
import { askDaemon } from "./ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "./command-line/command.ts";
import { cniPathOf, configOf, notAbsolute, stateDirOf, statusSocketOf } from "./command-line/common-options.ts";
import { readStatus } from "./read-status.ts";

const patienceMs = 5000;
const mebibyte = 1024 * 1024;

/** Runs `plexusctl sysdump`. */
export async function sysdumpCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readSysdumpOptions(line);
  if ("wrong" in options) return options;
  const { archive, leftOut } = await sysdump(dumpOf(options));
  try {
    writeArchive(options.output, archive);
  } catch (error) {
    return failure(`${options.output}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const text = `${options.output}: ${archive.length} bytes; left out: ${leftOut.length} (see contents.json)`;
  return options.output === "-" ? { stdout: "", status: 0 } : { stdout: `${text}\n`, status: 0 };
}

interface SysdumpOptions {
  readonly output: string;
  readonly maxBytes: number;
  readonly statusSocket: string;
  readonly stateDir: string;
  readonly config: string;
  readonly cniPath: string;
}

function dumpOf({ statusSocket, stateDir, config, cniPath, maxBytes }: SysdumpOptions): SysdumpInit {
  const settings = readHostSettings(config, cniPath);
  const configuration = settings.ok ? settings.value?.configuration : undefined;
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  const metrics = async (): Promise<string> => {
    const answer = await askDaemon({ socketPath: statusSocket, method: "GET", path: "/metrics", patienceMs });
    if ("why" in answer) throw new Error(answer.why);
    return answer.body;
  };
  const doctor = async (): Promise<unknown> => {
    const { diagnose } = await import("./doctor.ts");
    return diagnose({ statusSocket, stateDir, isolation: undefined, sandboxUids: defaultUids });
  };
  return {
    documents: [
      { name: "status.json", read: async () => (await readStatus({ statusSocket, stateDir })).document },
      { name: "doctor.json", read: doctor },
      { name: "metrics.txt", read: metrics },
    ],
    configurationDirectories: [
      ...new Set([config, "/etc/plexus", dirname(configuration?.kubeconfig ?? "/etc/plexus/kubeconfig")]),
    ],
    listedDirectories: [...cniPath.split(":").filter(isAbsolute), home, stateDir, dirname(statusSocket)],
    logs: [configuration?.log.file ?? ""].filter((path) => path !== ""),
    maxBytes,
  };
}

/** Makes a new file: one that exists, or a link, is never overwritten. */
function writeArchive(output: string, archive: Buffer): void {
  const file = output === "-" ? 1 : openSync(output, "wx", 0o600);
  try {
    for (let done = 0; done < archive.length;) done += writeSync(file, archive, done);
  } finally {
    if (file !== 1) closeSync(file);
  }
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
    statusSocket: statusSocketOf(line),
    stateDir: stateDirOf(line),
    config: configOf(line),
    cniPath: cniPathOf(line),
  };
}
