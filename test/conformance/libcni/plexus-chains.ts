// Our side of a scenario: the chains of src/cni, driven with real plugin processes and a real cache directory, as plainly as
// it can be done: what is compared is src/cni, not a host.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Attachment } from "../../../src/cni/attachment.ts";
import { cachedAttachments, cachedResultText, cacheFileName, encodeCache } from "../../../src/cni/cache.ts";
import type { AttachmentContext, ChainContext, ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { addChain, checkChain, delChain, statusChain } from "../../../src/cni/chains.ts";
import { appendSubdirectoryPlugins } from "../../../src/cni/config-directory.ts";
import { readPluginFailure } from "../../../src/cni/error-json.ts";
import { staleAmong } from "../../../src/cni/gc-attachments.ts";
import { gcChain } from "../../../src/cni/gc-chain.ts";
import { listOfOne, parseNetworkList, parsePluginConf, type NetworkList } from "../../../src/cni/network-list.ts";
import { validateChain } from "../../../src/cni/validate-chain.ts";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import type { OracleRuntime } from "./oracle.ts";
import { defaultRuntime, textOf, type Operation, type Scenario } from "./scenario.ts";

/** Where one side of a scenario runs. */
export interface Room {
  readonly cniPath: string;
  readonly cacheDir: string;
  /** Where the scenario's configuration files are. */
  readonly confDir: string;
}

export type OurAnswer = { readonly result: unknown } | { readonly fault: Fault };

/** What plugins inherit on both sides. */
export const inheritedPath = "/usr/bin:/bin";

function loaded(network: Scenario["network"], room: Room): Result<NetworkList> {
  if ("list" in network) {
    const list = parseNetworkList(textOf(network.list));
    return list.ok ? appendSubdirectoryPlugins(list.value, []) : list;
  }
  if ("conf" in network) {
    const plugin = parsePluginConf(textOf(network.conf), "configuration");
    return plugin.ok ? listOfOne(plugin.value) : plugin;
  }
  const [file = ""] = Object.keys(network.files);
  const list = parseNetworkList(readFileSync(join(room.confDir, file), "utf8"));
  if (!list.ok) return list;
  const prefix = `${list.value.name}/`;
  const names = Object.keys(network.files).filter((name) => name.startsWith(prefix));
  const files = names.map((name) => ({ path: join(room.confDir, name), text: readFileSync(join(room.confDir, name), "utf8") }));
  return appendSubdirectoryPlugins(list.value, files);
}

function attachmentOf(runtime: OracleRuntime): Attachment {
  return {
    containerId: runtime.containerID,
    ifname: runtime.ifname,
    netns: runtime.netns,
    args: runtime.args ?? [],
    capabilityArgs: new Map(Object.entries(runtime.capabilityArgs ?? {}).map(([name, value]) => [name, JSON.stringify(value)])),
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Runs one step's plugin. */
function run(step: ChainStep, room: Room): StepOutcome {
  const { type } = step.plugin;
  const binary = join(room.cniPath, type);
  if (type.includes("/") || !isFile(binary)) {
    return failed(fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}" in path [${room.cniPath}]`));
  }
  const ended = spawnSync(binary, [], { input: step.stdin, env: Object.fromEntries(step.env), encoding: "utf8" });
  if (ended.status === 0) return { ok: true, stdout: ended.stdout };
  return {
    ok: false,
    fault: readPluginFailure({ ended: `exit status ${ended.status}`, stdout: ended.stdout, stderr: ended.stderr }),
  };
}

/** Drives a chain to its end. */
function drive<T>(chain: Generator<ChainStep, T, StepOutcome>, room: Room): T {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(run(turn.value, room));
  return turn.value;
}

/** The cache, as libcni keeps it. */
function cacheOf(room: Room) {
  const directory = join(room.cacheDir, "results");
  const path = (network: string, attachment: Attachment): string => {
    const name = cacheFileName({ network, containerId: attachment.containerId, ifname: attachment.ifname });
    if (!name.ok) throw new Error(name.fault.msg);
    return join(directory, name.value);
  };
  return {
    write(list: NetworkList, attachment: Attachment, result: string): void {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path(list.name, attachment), encodeCache({ ...attachment, network: list.name, config: list.text, result }));
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

function perform(operation: Operation, list: NetworkList, runtime: OracleRuntime, room: Room): Result<unknown> {
  const context: ChainContext = { list, path: room.cniPath, inherited: [["PATH", inheritedPath]] };
  const attachment = attachmentOf({ ...runtime, ...operation.runtime });
  const own: AttachmentContext = { ...context, attachment };
  const cache = cacheOf(room);
  switch (operation.do) {
    case "ADD": {
      const added = drive(addChain(own), room);
      if (!added.ok) return added;
      cache.write(list, attachment, added.value.text);
      return { ok: true, value: JSON.parse(added.value.text) };
    }
    case "CHECK":
      return drive(checkChain(own, cache.result(list.name, attachment)), room);
    case "DEL": {
      const deleted = drive(delChain(own, cache.result(list.name, attachment)), room);
      if (deleted.ok) cache.remove(list.name, attachment);
      return deleted;
    }
    case "GC": {
      const valid = (operation.valid ?? []).map(({ containerID, ifname }) => ({ containerId: containerID, ifname }));
      const stale = staleAmong(cache.all(list.name), valid).map((entry) => ({
        attachment: { ...entry, args: entry.args ?? [] },
        result: entry.result,
      }));
      const collected = drive(gcChain(context, { valid, stale }), room);
      for (const id of collected.deleted) cache.remove(list.name, { ...attachment, ...id });
      return collected;
    }
    case "STATUS":
      return drive(statusChain(context), room);
    case "VALIDATE": {
      const validated = drive(validateChain(context), room);
      return validated.ok ? { ok: true, value: validated.value.toSorted() } : validated;
    }
    default:
      return operation.do satisfies never;
  }
}

/** Runs the operations in order. An operation that answers nothing has the result undefined. */
export function runOurs(scenario: Scenario, room: Room): readonly OurAnswer[] {
  const runtime: OracleRuntime = { ...defaultRuntime, ...scenario.runtime };
  return scenario.operations.map((operation) => {
    const list = loaded(scenario.network, room);
    const done = list.ok ? perform(operation, list.value, runtime, room) : list;
    if (!done.ok) return { fault: done.fault };
    return { result: operation.do === "ADD" || operation.do === "VALIDATE" ? done.value : undefined };
  });
}
