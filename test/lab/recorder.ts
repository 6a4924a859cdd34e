// The recorder's TypeScript side: installs the recorder under a name, scripts its answers, reads its log.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { compiledPlugin } from "./compiled.ts";

/** One recorded call of a plugin. */
export interface RecordedCall {
  readonly plugin: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Seconds of CLOCK_MONOTONIC, which order the calls of several plugins. */
  readonly time: number;
  readonly pid: number;
}

/** A recorder's answer. Without `stdout` and `exit` the recorder behaves as a plugin that does nothing. */
export interface ScriptedAnswer {
  readonly stdout?: string | Buffer;
  readonly stderr?: string | Buffer;
  readonly exit?: number;
  readonly sleepMs?: number;
  /** The number of the signal that ends the recorder. */
  readonly kill?: number;
  /** The content that the recorder writes to the file of runtimeConfig.CNIDeviceInfoFile. */
  readonly deviceInfo?: string;
}

export interface RecorderPlugin {
  readonly name: string;
  readonly path: string;
  /** Sets the answer to a verb's nth call (from 1), or to every call of that verb. */
  script(verb: string, answer: ScriptedAnswer, nth?: number): void;
  /**
   * Holds a verb's nth call (from 1), or every call of that verb, after it is recorded. The answered function releases these calls;
   * the removal of the recorder's directory does, too.
   */
  hold(verb: string, nth?: number): () => void;
  calls(): readonly RecordedCall[];
  /** Removes the recorded calls and their counters, and keeps the script. */
  clear(): void;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function bytesOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("recorder log: a string was expected");
  return Buffer.from(value, "latin1").toString("utf8");
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error("recorder log: a list was expected");
  return value.map(bytesOf);
}

function recordedCall(line: string): RecordedCall {
  const value: unknown = JSON.parse(line);
  if (!isRecord(value)) throw new Error("recorder log: an object was expected");
  const env: Record<string, string> = {};
  for (const pair of textsOf(value["env"])) {
    const at = pair.indexOf("=");
    env[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return {
    plugin: bytesOf(value["plugin"]),
    argv: textsOf(value["argv"]),
    env,
    stdin: bytesOf(value["stdin"]),
    time: Number(value["time"]),
    pid: Number(value["pid"]),
  };
}

/** The calls in the log of a plugin binary, oldest first. An unfinished line is left out. */
export function recordedCalls(binary: string): readonly RecordedCall[] {
  const log = `${binary}.log`;
  if (!existsSync(log)) return [];
  return readFileSync(log, "utf8").split("\n").slice(0, -1).map(recordedCall);
}

/** The calls of several recorders, ordered by time. */
export function callsInOrder(recorders: Iterable<{ calls(): readonly RecordedCall[] }>): RecordedCall[] {
  return [...recorders].flatMap((recorder) => recorder.calls()).sort((a, b) => a.time - b.time);
}

function installed(kind: "recorder" | "hostile", directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(compiledPlugin(kind), path);
  chmodSync(path, 0o755);
  return path;
}

/** Installs a recorder under a name into a directory of a CNI_PATH. */
export function installRecorder(directory: string, name: string): RecorderPlugin {
  const path = installed("recorder", directory, name);
  const scripts = `${path}.script`;
  mkdirSync(scripts, { recursive: true });
  return {
    name,
    path,
    script(verb, answer, nth) {
      const base = join(scripts, nth === undefined ? verb : `${verb}.${nth}`);
      if (answer.stdout !== undefined) writeFileSync(`${base}.out`, answer.stdout);
      if (answer.stderr !== undefined) writeFileSync(`${base}.err`, answer.stderr);
      if (answer.exit !== undefined) writeFileSync(`${base}.exit`, String(answer.exit));
      if (answer.sleepMs !== undefined) writeFileSync(`${base}.sleep-ms`, String(answer.sleepMs));
      if (answer.kill !== undefined) writeFileSync(`${base}.kill`, String(answer.kill));
      if (answer.deviceInfo !== undefined) writeFileSync(`${base}.device-info`, answer.deviceInfo);
    },
    hold(verb, nth) {
      const file = join(scripts, nth === undefined ? `${verb}.held` : `${verb}.${nth}.held`);
      writeFileSync(file, "");
      return () => rmSync(file, { force: true });
    },
    calls: () => recordedCalls(path),
    clear() {
      rmSync(`${path}.log`, { force: true });
      for (const verb of ["ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"])
        rmSync(join(scripts, `${verb}.calls`), { force: true });
    },
  };
}

/** The behaviours of test/lab/plugins/hostile.c. */
export type Hostility =
  | "never-reads-stdin"
  | "never-ends"
  | "ignores-sigterm"
  | "never-ends-with-children"
  | "floods-stdout"
  | "floods-stderr"
  | "leaves-daemon"
  | "json-then-garbage"
  | "two-results"
  | "error-with-success"
  | "success-with-failure"
  | "prints-nothing"
  | "prints-null"
  | "prints-array"
  | "prints-string"
  | "prints-html"
  | "prints-half"
  | "wrong-version"
  | "version-of-number"
  | "ips-of-string"
  | "bad-address"
  | "bad-prefix"
  | "bad-route"
  | "invalid-utf8"
  | "deep-nesting"
  | "prototype"
  | "fails-silently"
  | "fails-on-stderr"
  | "fails-with-text"
  | "fails-with-code"
  | "fails-with-escape"
  | "fails-with-code-of-text"
  | "dies-of-signal"
  | "closes-stdout";

export interface HostilePlugin {
  readonly type: Hostility;
  readonly path: string;
  calls(): readonly RecordedCall[];
  /** The pid of the process that `leaves-daemon` left. The test must end that process. */
  daemon(): number | undefined;
}

/** Installs a hostile plugin, which misbehaves on `verbs` (default: ADD) and is well-behaved on the other verbs. */
export function installHostile(directory: string, type: Hostility, verbs?: readonly string[]): HostilePlugin {
  const path = installed("hostile", directory, type);
  if (verbs !== undefined) writeFileSync(`${path}.verbs`, verbs.join(" "));
  return {
    type,
    path,
    calls: () => recordedCalls(path),
    daemon() {
      const file = `${path}.pid`;
      return existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined;
    },
  };
}

/** Installs a recorder under each name. */
export function installRecorders<Name extends string>(cniPath: string, ...names: readonly Name[]): Record<Name, RecorderPlugin> {
  const entries = names.map((name) => [name, installRecorder(cniPath, name)] as const);
  return Object.fromEntries(entries) as Record<Name, RecorderPlugin>;
}
