// A scenario's room: a directory of recorders, one of configuration files and one for the cache; and what can be observed
// in it afterwards, in a form in which both sides can be compared.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { filesBelow } from "../../harness/namespaces.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../harness/recorder.ts";
import type { Room } from "./ours.ts";
import { textOf, type Scenario } from "./scenario.ts";

export interface FurnishedRoom extends Room {
  readonly recorders: readonly RecorderPlugin[];
}

export function furnish(scenario: Scenario, parent: string): FurnishedRoom {
  const directory = mkdtempSync(join(parent, "room-"));
  const room = { cniPath: join(directory, "bin"), cacheDir: join(directory, "cache"), confDir: join(directory, "net.d") };
  for (const path of Object.values(room)) mkdirSync(path);
  const recorders = Object.entries(scenario.plugins).map(([name, answers]) => {
    const recorder = installRecorder(room.cniPath, name);
    for (const { verb, nth, ...answer } of answers) recorder.script(verb, answer, nth);
    return recorder;
  });
  if ("files" in scenario.network) {
    for (const [name, content] of Object.entries(scenario.network.files)) {
      const path = join(room.confDir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf(content));
    }
  }
  return { ...room, recorders };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A result without what says nothing: Go prints `dns: {}` for some versions and leaves out empty lists, a text that is
 * passed on as it was printed keeps both.
 */
export function meaningful(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaningful);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, meaningful(member)] as const);
  const says = ([, member]: readonly [string, unknown]): boolean =>
    !(Array.isArray(member) && member.length === 0) && !(isRecord(member) && Object.keys(member).length === 0);
  return Object.fromEntries(members.filter(says));
}

/** With every member `config`, which is a configuration's text, as the value that it means. */
export function parsedConfigs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(parsedConfigs);
  if (!isRecord(value)) return value;
  const parsed = (key: string, member: unknown): unknown =>
    key === "config" && typeof member === "string" ? JSON.parse(member) : parsedConfigs(member);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, parsed(key, member)]));
}

/** stdin as a value: `prevResult` by its meaning, all else to the letter. */
function stdinOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isRecord(value) && "prevResult" in value ? { ...value, prevResult: meaningful(value["prevResult"]) } : value;
}

/** What one plugin was called with. */
interface ObservedCall {
  readonly plugin: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: unknown;
}

/** Every call of every plugin, in order, without what must differ: the rooms' own directories. */
export function observedCalls(room: FurnishedRoom): readonly ObservedCall[] {
  return callsInOrder(room.recorders).map((call) => ({
    plugin: call.plugin,
    argv: call.argv.map((arg) => arg.replace(room.cniPath, "BIN")),
    env: Object.fromEntries(Object.entries(call.env).map(([name, value]) => [name, value.replaceAll(room.cniPath, "BIN")])),
    stdin: stdinOf(call.stdin),
  }));
}

/** Every file of the cache, by name: its members, the configuration decoded, the result by its meaning. */
export function observedCache(room: Room): unknown {
  const directory = join(room.cacheDir, "results");
  return filesBelow(directory).map((name) => {
    const entry: unknown = JSON.parse(readFileSync(join(directory, name), "utf8"));
    if (!isRecord(entry)) throw new Error(`${name} is no object`);
    const config: unknown = JSON.parse(Buffer.from(String(entry["config"]), "base64").toString("utf8"));
    return { name, entry: { ...entry, config, result: meaningful(entry["result"]) } };
  });
}
