// `kubectl plexus`: runs plexusctl in the pod of Plexus on a pod's node. A plugin of kubectl, for an administrator's machine.

import { createWriteStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { execa, ExecaError } from "execa";
import { inertText } from "../../../src/text/inert-text.ts";
import { type PluginCommand, probeUsage, readCommandLine, usage } from "./command-line.ts";
import { completed, completer } from "./complete.ts";
import { type AskKubectl, placeOfPod, plexusPodOn, usualRelease } from "./find-pod.ts";

const container = "plexusd";
/** Maximum length of an error, in UTF-16 units: kubectl may quote a whole answer of the API server. */
const maxMessage = 4096;
const control = ["/opt/plexus/bin/node", "--disable-warning=ExperimentalWarning", "/opt/plexus/plexusctl.cjs"];

async function main(): Promise<void> {
  const [, program = "", ...args] = process.argv;
  if (basename(program) === completer) {
    process.stdout.write(await completed(args, askWith([])));
    return;
  }
  const command = readCommandLine(args);
  if (command === "help" || command === "probe-help") {
    process.stdout.write(command === "help" ? usage : probeUsage);
    return;
  }
  if ("wrong" in command) return fail(2, `${command.wrong} (kubectl plexus --help shows examples)`);
  try {
    process.exitCode = await run(command);
  } catch (error) {
    const why = error instanceof ExecaError ? String(error.stderr ?? "").trim() || error.shortMessage : undefined;
    fail(1, why ?? (error instanceof Error ? error.message : String(error)));
  }
}

function askWith(options: readonly string[]): AskKubectl {
  return async (question) => (await execa("kubectl", [...options, ...question])).stdout;
}

async function run({ kubectl, pod, node, release, control: words, asksPod }: PluginCommand): Promise<number> {
  const ask = askWith(kubectl);
  const place = pod === undefined ? undefined : await placeOfPod(ask, pod.name, pod.namespace);
  const on = node ?? place?.node ?? "";
  const [verb = "", ...rest] = words;
  const args = asksPod === true ? [verb, `${place?.namespace ?? ""}/${pod?.name ?? ""}`, ...rest] : words;
  const { PLEXUS_NAMESPACE, PLEXUS_RELEASE } = process.env;
  const plexus = await plexusPodOn(ask, on, {
    namespace: release?.namespace ?? PLEXUS_NAMESPACE ?? usualRelease.namespace,
    name: release?.name ?? PLEXUS_RELEASE ?? usualRelease.name,
  });
  const exec = [...kubectl, "exec", "-n", plexus.namespace, plexus.name, "-c", container, "--", ...control];
  if (args[0] === "sysdump" && !args.some((arg) => ["-o", "--output", "--help"].includes(arg)))
    return saveDump([...exec, ...args], on);
  // kubectl's own stdout and stderr: large tables are not held in memory, and colours and pipes are as of plexusctl.
  const { exitCode } = await execa("kubectl", [...exec, ...args], { stdio: "inherit", reject: false });
  return exitCode ?? 1;
}

/** The pod has a read-only root, so the archive comes through stdout. */
async function saveDump(args: readonly string[], node: string): Promise<number> {
  const path = `plexus-sysdump-${node.replaceAll(/[^\w.-]/g, "_")}.tar.gz`;
  const dump = execa("kubectl", [...args, "-o", "-"], { stderr: "inherit", encoding: "buffer", buffer: false });
  await Promise.all([pipeline(dump.stdout, createWriteStream(path, { flags: "wx", mode: 0o600 })), dump]);
  process.stdout.write(`${path}\n`);
  return 0;
}

function fail(status: 1 | 2, message: string): void {
  process.stderr.write(`kubectl plexus: ${inertText(message, maxMessage)}\n`);
  process.exitCode = status;
}

void main();
