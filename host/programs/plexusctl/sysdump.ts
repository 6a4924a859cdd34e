// plexusctl sysdump: one archive about this node for a report, without secrets.

import { closeSync, openSync, realpathSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { parseArgs } from "node:util";
import { defaultUids } from "../../../src/configuration/wasm-configuration.ts";
import { readHostSettings } from "../../node/explain/host-settings.ts";
import { sysdump, type SysdumpInit } from "../../node/sysdump/sysdump.ts";
import { askDaemon } from "./ask-daemon.ts";
import type { CommandResult } from "./commands.ts";
import { readStatus } from "./read-status.ts";

/** The help text. */
const sysdumpUsage = `plexusctl sysdump: writes one archive about this node, without secrets

  -o, --output FILE       the archive; -: stdout (plexus-sysdump-HOST.tar.gz)
  --max-mib N             maximum size before compression, 1 to 1000 (20)
  --status-socket PATH    the daemon's status socket (/run/plexus/status.sock)
  --state-dir PATH        the state directory (/var/lib/cni/plexus)
  --config DIR            network configurations (/etc/cni/net.d)
  --cni-path DIR[:DIR…]   directories of plugins ($CNI_PATH, else /opt/cni/bin)
  --help                  shows this text

The archive has status, sandbox proof, metrics, versions, kernel features, links,
routes, configurations, names of files and the ends of logs. Tokens, keys,
users of kubeconfigs and foreign annotations are taken out; look through the
archive before you publish it. contents.json says what was left out.
`;

const patienceMs = 5000;
const mebibyte = 1024 * 1024;

/** Runs `plexusctl sysdump` with the arguments after the command's name. */
export async function sysdumpCommand(args: readonly string[]): Promise<CommandResult> {
  const options = readSysdumpOptions(args);
  if (options === "help") return { stdout: sysdumpUsage, status: 0 };
  if ("wrong" in options)
    return { stdout: "", stderr: `${options.wrong} (plexusctl sysdump --help lists the options)`, status: 2 };
  const { archive, leftOut } = await sysdump(dumpOf(options));
  try {
    writeArchive(options.output, archive);
  } catch (error) {
    return { stdout: "", stderr: `${options.output}: ${error instanceof Error ? error.message : String(error)}`, status: 1 };
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

function readSysdumpOptions(args: readonly string[]): SysdumpOptions | "help" | { readonly wrong: string } {
  try {
    const { values } = parse(args);
    if (values.help === true) return "help";
    const mebibytes = Number(values["max-mib"]);
    if (!Number.isInteger(mebibytes) || mebibytes < 1 || mebibytes > 1000)
      return { wrong: `--max-mib ${values["max-mib"]}: must be a number from 1 to 1000` };
    for (const name of ["status-socket", "state-dir", "config"] as const) {
      if (!isAbsolute(values[name])) return { wrong: `--${name} ${values[name]}: must be an absolute path` };
    }
    return {
      output: values.output === "-" ? "-" : resolve(values.output ?? `plexus-sysdump-${hostname()}.tar.gz`),
      maxBytes: mebibytes * mebibyte,
      statusSocket: values["status-socket"],
      stateDir: values["state-dir"],
      config: values.config,
      cniPath: values["cni-path"] ?? process.env["CNI_PATH"] ?? "/opt/cni/bin",
    };
  } catch (error) {
    // The messages of parseArgs have several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      output: { type: "string", short: "o" },
      "max-mib": { type: "string", default: "20" },
      "status-socket": { type: "string", default: "/run/plexus/status.sock" },
      "state-dir": { type: "string", default: "/var/lib/cni/plexus" },
      config: { type: "string", default: "/etc/cni/net.d" },
      "cni-path": { type: "string" },
      help: { type: "boolean" },
    },
  });
}
