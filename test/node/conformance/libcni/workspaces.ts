// A scenario's workspace: a directory of recorder plugins, one of configuration files and one for the cache. The
// functions `observed…` return the calls and the cache afterwards, in a form that can be compared between both sides.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { filesBelow } from "../../../lab/namespaces.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../../lab/recorder.ts";
import type { Workspace } from "./plexus-chains.ts";
import { textOf, type Scenario } from "./scenario.ts";

export interface RecorderWorkspace extends Workspace {
  readonly recorders: readonly RecorderPlugin[];
}

export function createWorkspace(scenario: Scenario, parent: string): RecorderWorkspace {
  const directory = mkdtempSync(join(parent, "workspace-"));
  const workspace = { cniPath: join(directory, "bin"), cacheDir: join(directory, "cache"), confDir: join(directory, "net.d") };
  for (const path of Object.values(workspace)) mkdirSync(path);
  const recorders = Object.entries(scenario.plugins).map(([name, answers]) => {
    const recorder = installRecorder(workspace.cniPath, name);
    for (const { verb, nth, ...answer } of answers) recorder.script(verb, answer, nth);
    return recorder;
  });
  if ("files" in scenario.network) {
    for (const [name, content] of Object.entries(scenario.network.files)) {
      const path = join(workspace.confDir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf(content));
    }
  }
  return { ...workspace, recorders };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A result without its empty lists and objects. Go prints `dns: {}` for some versions and omits empty lists; a result
 * that Plexus passes on unchanged keeps both.
 */
export function withoutEmptyMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyMembers);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmptyMembers(member)] as const);
  const isNotEmpty = ([, member]: readonly [string, unknown]): boolean =>
    !(Array.isArray(member) && member.length === 0) && !(isRecord(member) && Object.keys(member).length === 0);
  return Object.fromEntries(members.filter(isNotEmpty));
}

/** The value with every member `config`, a configuration's text, parsed. */
export function parsedConfigs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(parsedConfigs);
  if (!isRecord(value)) return value;
  const parsed = (key: string, member: unknown): unknown =>
    key === "config" && typeof member === "string" ? JSON.parse(member) : parsedConfigs(member);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, parsed(key, member)]));
}

/** stdin parsed, with the empty members of `prevResult` removed. */
function stdinOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isRecord(value) && "prevResult" in value ? { ...value, prevResult: withoutEmptyMembers(value["prevResult"]) } : value;
}

/** The arguments, environment and stdin of a plugin's call. */
interface ObservedCall {
  readonly plugin: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: unknown;
}

/** Every call of every plugin, in order, with BIN for the workspace's plugin directory. */
export function observedCalls(workspace: RecorderWorkspace): readonly ObservedCall[] {
  return callsInOrder(workspace.recorders).map((call) => ({
    plugin: call.plugin,
    argv: call.argv.map((arg) => arg.replace(workspace.cniPath, "BIN")),
    env: Object.fromEntries(Object.entries(call.env).map(([name, value]) => [name, value.replaceAll(workspace.cniPath, "BIN")])),
    stdin: stdinOf(call.stdin),
  }));
}

/** Every file of the cache, by name: its members, with the configuration decoded and the result's empty members removed. */
export function observedCache(workspace: Workspace): unknown {
  const directory = join(workspace.cacheDir, "results");
  return filesBelow(directory).map((name) => {
    const entry: unknown = JSON.parse(readFileSync(join(directory, name), "utf8"));
    if (!isRecord(entry)) throw new Error(`the cache file ${name} is not a JSON object`);
    const config: unknown = JSON.parse(Buffer.from(String(entry["config"]), "base64").toString("utf8"));
    return { name, entry: { ...entry, config, result: withoutEmptyMembers(entry["result"]) } };
  });
}
