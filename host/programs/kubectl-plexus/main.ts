// `kubectl plexus`: runs plexusctl in the pod of Plexus on a pod's node. A plugin of kubectl, for an administrator's machine.

import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { execa, ExecaError } from "execa";
import { type PluginCommand, readCommandLine, usage } from "./command-line.ts";
import { type AskKubectl, nodeOfPod, plexusPodOn, usualRelease } from "./find-pod.ts";

const container = "plexusd";
const control = ["/opt/plexus/bin/node", "--disable-warning=ExperimentalWarning", "/opt/plexus/plexusctl.cjs"];

async function main(): Promise<void> {
  const command = readCommandLine(process.argv.slice(2));
  if (command === "help") {
    process.stdout.write(usage);
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

async function run({ kubectl, pod, node, release, control: args }: PluginCommand): Promise<number> {
  const ask: AskKubectl = async (question) => (await execa("kubectl", [...kubectl, ...question])).stdout;
  const on = node ?? (pod === undefined ? "" : await nodeOfPod(ask, pod.name, pod.namespace));
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
  process.stderr.write(`kubectl plexus: ${message}\n`);
  process.exitCode = status;
}

void main();
