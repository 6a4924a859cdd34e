// Go's libcni as an oracle: builds go/main.go once, if a Go toolchain is installed, and runs operations in it.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { builtOnce, root } from "../../../lab/compiled.ts";

const directory = join(root, "test", "node", "conformance", "libcni", "go");

export interface OracleRuntime {
  readonly containerID: string;
  readonly netns: string;
  readonly ifname: string;
  readonly args?: readonly (readonly [string, string])[];
  readonly capabilityArgs?: Readonly<Record<string, unknown>>;
}

export interface OracleOperation {
  readonly do: string;
  readonly list?: string;
  readonly conf?: string;
  readonly file?: string;
  readonly dir?: string;
  readonly name?: string;
  readonly runtime?: OracleRuntime;
  readonly valid?: readonly { readonly containerID: string; readonly ifname: string }[];
  readonly extensions?: readonly string[];
  readonly value?: string;
  readonly version?: string;
}

export interface OracleAnswer {
  readonly result?: unknown;
  readonly error?: {
    /** 0 if the error is not a CNI error: most of libcni's own failures are plain Go errors. */
    readonly code: number;
    readonly msg: string;
    readonly details: string;
    /** The whole chain of messages. */
    readonly text: string;
    readonly kind?: "no-configs" | "not-found";
  };
}

function sources(): string[] {
  return ["go.mod", "go.sum", "main.go"].map((name) => readFileSync(join(directory, name), "utf8"));
}

/** Builds the oracle. Throws if Go is missing, or if the oracle's module is neither cached nor can be fetched. */
function buildOracle(): string {
  return builtOnce("libcni-oracle", sources(), (output) => {
    const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", CGO_ENABLED: "0", GOWORK: "off" };
    execFileSync("go", ["build", "-trimpath", "-ldflags=-s -w", "-o", output, "."], {
      cwd: directory,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
  });
}

/** The reason why the oracle cannot run, as a phrase; undefined if it can. */
export function missingOracle(): string | undefined {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  try {
    buildOracle();
    return undefined;
  } catch (error) {
    return `go build failed (the module containernetworking/cni must be fetched once): ${String(error).slice(0, 300)}`;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAnswer(value: unknown): value is OracleAnswer {
  return isRecord(value) && (value["error"] === undefined || isRecord(value["error"]));
}

/** Runs the operations in order in one process of the oracle. `env`: further variables of the oracle and its plugins. */
export function askOracle(
  cniPath: readonly string[],
  cacheDir: string,
  operations: readonly OracleOperation[],
  env: Readonly<Record<string, string>> = {},
): readonly OracleAnswer[] {
  const stdout = execFileSync(buildOracle(), [], {
    input: JSON.stringify({ cniPath, cacheDir, operations }),
    env: { PATH: "/usr/bin:/bin", ...env },
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const parsed: unknown = JSON.parse(stdout);
  const answers = isRecord(parsed) ? parsed["answers"] : undefined;
  if (!Array.isArray(answers) || !answers.every(isAnswer) || answers.length !== operations.length) {
    throw new Error(`the oracle answered ${stdout.slice(0, 500)}`);
  }
  return answers;
}
