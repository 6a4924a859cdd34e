// Plexus' side of a scenario: runs the chains of src/cni with real plugin processes and a real cache directory. It uses no
// other code of the host, because the comparison is about src/cni.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attachment, attachmentKey } from "../../../../src/cni/attachment.ts";
import { cachedAttachments, cachedResultText, cacheFileName, encodeCache } from "../../../../src/cni/cache.ts";
import type { AttachmentContext, ChainContext, ChainStep, StepOutcome } from "../../../../src/cni/chain-step.ts";
import { addChain, checkChain, delChain, statusChain } from "../../../../src/cni/chains.ts";
import { appendSubdirectoryPlugins } from "../../../../src/cni/config-directory.ts";
import { printCniArgs, splitCniArgs } from "../../../../src/cni/environment.ts";
import { readPluginFailure } from "../../../../src/cni/error-json.ts";
import { gcChain } from "../../../../src/cni/gc-chain.ts";
import { listOfOne, parseNetworkList, parsePluginConf, type NetworkList } from "../../../../src/cni/network-list.ts";
import { fault, type Fault } from "../../../../src/fault/fault.ts";
import { failed, type Result } from "../../../../src/fault/result.ts";
import type { OracleRuntime } from "./oracle.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";
import { validateChain } from "./validate-chain.ts";

/** The directories in which one side, Plexus or libcni, runs a scenario. */
export interface Workspace {
  readonly cniPath: string;
  readonly cacheDir: string;
  /** The directory of the scenario's configuration files. */
  readonly confDir: string;
}

export type PlexusAnswer = { readonly result: unknown } | { readonly fault: Fault };

/** PATH of the plugins on both sides. */
export const inheritedPath = "/usr/bin:/bin";

function loadNetwork(network: Scenario["network"], workspace: Workspace): Result<NetworkList> {
  if ("list" in network) {
    const list = parseNetworkList(textOf(network.list));
    return list.ok ? appendSubdirectoryPlugins(list.value, []) : list;
  }
  if ("conf" in network) {
    const plugin = parsePluginConf(textOf(network.conf), "configuration");
    return plugin.ok ? listOfOne(plugin.value) : plugin;
  }
  const [file = ""] = Object.keys(network.files);
  const list = parseNetworkList(readFileSync(join(workspace.confDir, file), "utf8"));
  if (!list.ok) return list;
  const prefix = `${list.value.name}/`;
  const names = Object.keys(network.files).filter((name) => name.startsWith(prefix));
  const files = names.map((name) => ({
    path: join(workspace.confDir, name),
    text: readFileSync(join(workspace.confDir, name), "utf8"),
  }));
  return appendSubdirectoryPlugins(list.value, files);
}

function attachmentOf(runtime: OracleRuntime): Attachment {
  return {
    containerId: runtime.containerID,
    ifname: runtime.ifname,
    netns: runtime.netns,
    args: printCniArgs(runtime.args ?? []),
    capabilityArgs: new Map(Object.entries(runtime.capabilityArgs ?? {}).map(([name, value]) => [name, JSON.stringify(value)])),
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Runs one step's plugin. */
function runPlugin(step: ChainStep, workspace: Workspace): StepOutcome {
  const { type } = step.plugin;
  const binary = join(workspace.cniPath, type);
  if (type.includes("/") || !isFile(binary)) {
    return failed(fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}" in path [${workspace.cniPath}]`));
  }
  const ended = spawnSync(binary, [], { input: step.stdin, env: Object.fromEntries(step.env), encoding: "utf8" });
  if (ended.status === 0) return { ok: true, stdout: ended.stdout };
  return {
    ok: false,
    fault: readPluginFailure({ ended: `exit status ${ended.status}`, stdout: ended.stdout, stderr: ended.stderr }),
  };
}

/** Runs a chain's steps until it ends. */
function drive<T>(chain: Generator<ChainStep, T, StepOutcome>, workspace: Workspace): T {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(runPlugin(turn.value, workspace));
  return turn.value;
}

/** The cache of results, in libcni's layout. */
function cacheOf(workspace: Workspace) {
  const directory = join(workspace.cacheDir, "results");
  const path = (network: string, attachment: Attachment): string => {
    const name = cacheFileName({ network, containerId: attachment.containerId, ifname: attachment.ifname });
    if (!name.ok) throw new Error(name.fault.msg);
    return join(directory, name.value);
  };
  return {
    write(list: NetworkList, attachment: Attachment, result: string): void {
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        path(list.name, attachment),
        encodeCache({ ...attachment, args: splitCniArgs(attachment.args), network: list.name, config: list.text, result }),
      );
    },
    result(network: string, attachment: Attachment): string | undefined {
      const file = path(network, attachment);
      if (!isFile(file)) return undefined;
      const key = { network, containerId: attachment.containerId, ifname: attachment.ifname };
      return cachedResultText(key, readFileSync(file, "utf8"));
    },
    remove(network: string, attachment: Attachment): void {
      rmSync(path(network, attachment), { force: true });
    },
    all(network: string) {
      const names = statSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory);
      const files = names.map((name) => ({ name, text: readFileSync(join(directory, name), "utf8") }));
      return cachedAttachments(files).filter((entry) => entry.network === network);
    },
  };
}

function perform(operation: Operation, list: NetworkList, runtime: OracleRuntime, workspace: Workspace): Result<unknown> {
  const context: ChainContext = { list, path: workspace.cniPath, inherited: [["PATH", inheritedPath]] };
  const attachment = attachmentOf({ ...runtime, ...operation.runtime });
  const attachmentContext: AttachmentContext = { ...context, attachment };
  const cache = cacheOf(workspace);
  switch (operation.do) {
    case "ADD": {
      const added = drive(addChain(attachmentContext), workspace);
      if (!added.ok) return added;
      cache.write(list, attachment, added.value.text);
      return { ok: true, value: JSON.parse(added.value.text) };
    }
    case "CHECK":
      return drive(checkChain(attachmentContext, cache.result(list.name, attachment)), workspace);
    case "DEL": {
      const deleted = drive(delChain(attachmentContext, cache.result(list.name, attachment)), workspace);
      if (deleted.ok) cache.remove(list.name, attachment);
      return deleted;
    }
    case "GC": {
      const valid = (operation.valid ?? []).map(({ containerID, ifname }) => ({ containerId: containerID, ifname }));
      // libcni runs DEL for each attachment that the runtime no longer lists as valid, with the current list, before GC.
      const keys = new Set(valid.map(attachmentKey));
      const cached = cache.all(list.name).filter((entry) => !keys.has(attachmentKey(entry)));
      const stale = cached.map((entry) => ({
        attachment: { ...entry, args: printCniArgs(entry.args ?? []) },
        result: entry.result,
      }));
      const collected = drive(gcChain(context, valid, stale), workspace);
      for (const id of collected.deleted) cache.remove(list.name, { ...attachment, ...id });
      return collected;
    }
    case "STATUS":
      return drive(statusChain(context), workspace);
    case "VALIDATE": {
      const validated = drive(validateChain(context), workspace);
      return validated.ok ? { ok: true, value: validated.value.toSorted() } : validated;
    }
    default:
      return operation.do satisfies never;
  }
}

/** Runs the operations in order. The result of an operation without an answer is undefined. */
export function runOnPlexus(scenario: Scenario, workspace: Workspace): readonly PlexusAnswer[] {
  const runtime: OracleRuntime = { ...defaultRuntime, ...scenario.runtime };
  return scenario.operations.map((operation) => {
    const list = loadNetwork(scenario.network, workspace);
    const done = list.ok ? perform(operation, list.value, runtime, workspace) : list;
    if (!done.ok) return { fault: done.fault };
    return { result: operation.do === "ADD" || operation.do === "VALIDATE" ? done.value : undefined };
  });
}
