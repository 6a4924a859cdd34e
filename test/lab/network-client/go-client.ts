// A client of the CRI Network API in Go, built once from deploy/proto into the user's cache directory: the generated code is not committed.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { hasGo, runGo } from "../kube/go-command.ts";
import type { Requirement } from "../requires.ts";

const moduleDirectory = join(import.meta.dirname, "go");
const protoDirectory = join(root, "deploy", "proto");
const buildMinutes = 10;
const plugins = ["google.golang.org/protobuf/cmd/protoc-gen-go", "google.golang.org/grpc/cmd/protoc-gen-go-grpc"];

/** The client's path, whether or not the file exists. Its name has a hash of the build's inputs. */
function clientPath(): string {
  const hash = createHash("sha256")
    .update(process.arch)
    .update(readFileSync(join(protoDirectory, "network.proto")));
  const sources = readdirSync(moduleDirectory, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(?:go|mod|sum)$/.test(path),
  );
  for (const path of sources.toSorted()) hash.update(readFileSync(join(moduleDirectory, path)));
  return join(testCache, `network-client-${hash.digest("hex").slice(0, 16)}`);
}

/** Requires the client. */
export const goClient: Requirement = () =>
  existsSync(clientPath())
    ? undefined
    : "no client in Go of the CRI Network API: build it once where Go is on PATH: node test/lab/network-client/build.ts";

/** Generates the code and builds the client, if it is absent. Answers the reason of a failure, or undefined. */
export function buildGoClient(): string | undefined {
  if (goClient() === undefined) return undefined;
  if (!hasGo()) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const work = mkdtempSync(join(testCache, "building-"));
  const bin = join(work, "bin");
  const inModule = { directory: work, timeoutMinutes: buildMinutes, env: { GOFLAGS: "-mod=readonly" } };
  try {
    cpSync(moduleDirectory, work, { recursive: true });
    const failure = runGo({ ...inModule, args: ["build", "-trimpath", "-o", `${bin}/`, "./generate", ...plugins] });
    if (failure !== undefined) return failure;
    const generated = spawnSync(join(bin, "generate"), [protoDirectory, bin, join(work, "networkpb")], { encoding: "utf8" });
    if (generated.status !== 0) return `the code for Go was not generated: ${generated.stderr}`;
    const built = runGo({ ...inModule, args: ["build", "-trimpath", "-ldflags=-s -w", "-o", join(bin, "client"), "./client"] });
    if (built === undefined) renameSync(join(bin, "client"), clientPath());
    return built;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** An answer of the client; field names are those of the .proto file, unset fields have their default values. */
export interface GoAnswer {
  readonly response?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly reason: string;
    readonly domain: string;
    readonly metadata: Readonly<Record<string, string>>;
  };
}

/** A running client with one connection. */
export interface GoClient {
  /** Calls a method with one answer. Calls must not overlap. */
  call(method: string, request: object): Promise<GoAnswer>;
  /** Begins WatchPodNetwork, whose events go into `events`. */
  watch(): void;
  readonly events: readonly unknown[];
  /** Resolves when the client has ended. */
  close(): Promise<void>;
}

export function startGoClient(socket: string): GoClient {
  const child = spawn(clientPath(), [socket], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const events: unknown[] = [];
  let answered: ((answer: GoAnswer) => void) | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer: GoAnswer & { readonly event?: unknown } = JSON.parse(line);
    if (answer.event !== undefined) events.push(answer.event);
    else if (answered === undefined) events.push(answer);
    else answered(answer);
  });
  const send = (method: string, request: object): void => void child.stdin.write(`${JSON.stringify({ method, request })}\n`);
  return {
    call: async (method, request) => {
      const answer = new Promise<GoAnswer>((resolve) => (answered = resolve));
      send(method, request);
      try {
        return await answer;
      } finally {
        answered = undefined;
      }
    },
    watch: () => send("WatchPodNetwork", {}),
    events,
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
}
