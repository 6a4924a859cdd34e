// Runs many programs at once with the C program lanes.c, which starts and measures them.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { builtOnce, root } from "../test/lab/compiled.ts";
import { requirePrivateNamespaces } from "../test/lab/namespaces.ts";

/** A program as a runtime starts it, without arguments and with only this environment. */
export interface LaneCall {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export interface EndedCall {
  /** The index of the item, and of the call within the item. */
  readonly item: number;
  readonly call: number;
  readonly ms: number;
  readonly status: number;
  /** User and system time of the program and of its descendants, in ms. */
  readonly cpuMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LanesRun {
  /** Milliseconds from the first call's start to the last call's end. */
  readonly ms: number;
  readonly calls: readonly EndedCall[];
}

function compiled(): string {
  const source = join(root, "bench", "lanes.c");
  return builtOnce("lanes", [readFileSync(source, "utf8")], (output) => {
    execFileSync("cc", ["-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", output, source], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  });
}

function textsOf(items: readonly (readonly LaneCall[])[], lanes: number): Buffer {
  const texts: string[] = [String(lanes), String(items.length)];
  for (const calls of items) {
    texts.push(String(calls.length));
    for (const { program, env, stdin } of calls) {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      texts.push(program, stdin, String(variables.length), ...variables);
    }
  }
  return Buffer.from(texts.map((text) => `${text}\0`).join(""));
}

function runFrom(answer: Buffer): LanesRun {
  const calls: EndedCall[] = [];
  for (let at = 0; ;) {
    const end = answer.indexOf(10, at);
    if (end < 0) throw new Error("lanes: the answer has no end");
    const line = answer.toString("utf8", at, end);
    at = end + 1;
    if (line.startsWith("total ")) return { ms: Number(line.slice(6)) / 1e6, calls };
    const [item = 0, call = 0, ns = 0, status = 0, cpu = 0, stdout = 0, stderr = 0] = line.split(" ").map(Number);
    calls.push({
      item,
      call,
      ms: ns / 1e6,
      status,
      cpuMs: cpu / 1000,
      stdout: answer.toString("utf8", at, at + stdout),
      stderr: answer.toString("utf8", at + stdout, at + stdout + stderr),
    });
    at += stdout + stderr;
  }
}

/** Runs items, `lanes` of them at once. The calls of an item run one after the other. */
export async function runLanes(lanes: number, items: readonly (readonly LaneCall[])[]): Promise<LanesRun> {
  const child = spawn(compiled(), ["run"], { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = once(child, "close");
  child.stdin.end(textsOf(items, lanes));
  const [status] = await closed;
  if (status !== 0) throw new Error(`lanes ended with ${String(status)}`);
  return runFrom(Buffer.concat(chunks));
}

/** As `runLanes`, but throws with the output of the first failed call. */
export async function runAll(title: string, lanes: number, items: readonly (readonly LaneCall[])[]): Promise<LanesRun> {
  const run = await runLanes(lanes, items);
  const failures = run.calls.filter(({ status }) => status !== 0);
  const [first] = failures;
  if (first !== undefined) {
    const output = `${first.stdout}${first.stderr}`.slice(0, 1500);
    throw new Error(
      `${title}: ${failures.length} of ${run.calls.length} calls failed, the first with status ${first.status}: ${output}`,
    );
  }
  return run;
}

/** A pod's link and its IPv4 address. */
export interface PodLink {
  readonly pod: number;
  readonly name: string;
  readonly address: string | undefined;
}

/** The network namespaces of many pods. */
export interface PodNamespaces {
  readonly count: number;
  /** CNI_NETNS of the pod of this number. */
  path(pod: number): string;
  /** Links of all pods, without loopback devices. */
  links(): readonly PodLink[];
  dispose(): void;
}

let made = 0;

export function createPodNamespaces(count: number): PodNamespaces {
  requirePrivateNamespaces();
  made += 1;
  const prefix = `/run/netns/bench-${process.pid}-${made}-`;
  const tool = (command: string): string => execFileSync(compiled(), [command, prefix, String(count)], { encoding: "utf8" });
  tool("namespaces");
  return {
    count,
    path: (pod) => `${prefix}${pod}`,
    links: () =>
      tool("look")
        .split("\n")
        .slice(0, -1)
        .map((line) => {
          const [pod, name = "", address] = line.split(" ");
          return { pod: Number(pod), name, address: address === "-" ? undefined : address };
        }),
    dispose: () => void tool("remove"),
  };
}
