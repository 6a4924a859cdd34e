// Programs of other projects, built once from their pinned Go modules and kept in the user's cache directory. A build takes minutes, so
// `node test/lab/surroundings/NAME/get.ts` starts it by choice. Tests without the programs are skipped.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { testCache } from "../debian-packages.ts";
import { hasGo, runGo } from "../kube/go-command.ts";
import type { Requirement } from "../requires.ts";

export interface ModuleProgramsInit {
  /** The base name of the cache directory, and the name in messages. */
  readonly name: string;
  /** The directory of go.mod and go.sum. */
  readonly module: string;
  /** Import paths of the commands. */
  readonly packages: readonly string[];
  /** Import paths of packages whose tests become a program, `NAME.test`. */
  readonly tests?: readonly string[];
  /** Further files and directories of the module that are kept beside the programs, by their path in the module. */
  readonly files?: readonly string[];
  /** The programs have parts in C. Default: false. */
  readonly cgo?: boolean;
  /** The command that builds the programs. */
  readonly command: string;
}

export interface ModulePrograms {
  /** The path of a program; undefined if the programs have not been built. */
  path(program: string): string | undefined;
  /** The module's version in go.mod. */
  readonly version: string;
  /** Requires the programs. */
  readonly requirement: Requirement;
  /** Builds the programs into the cache. Answers the reason of a failure. */
  build(): string | undefined;
}

const maxBuildMinutes = 40;

/** Programs of the module that go.mod requires first. */
export function modulePrograms(init: ModuleProgramsInit): ModulePrograms {
  const { name, module, packages, tests = [], files = [], cgo = false, command } = init;
  const text = ["go.mod", "go.sum"].map((file) => readFileSync(join(module, file), "utf8"));
  const digest = createHash("sha256")
    .update([process.arch, ...text, ...packages, ...tests, ...files].join("\n"))
    .digest("hex");
  const [, required = "", version = "unknown"] = /^require (\S+) (\S+)$/mu.exec(text[0] ?? "") ?? [];
  const cached = join(testCache, `${name}-${digest.slice(0, 16)}`);
  return {
    path: (program) => (existsSync(cached) ? join(cached, program) : undefined),
    version,
    requirement: () => (existsSync(cached) ? undefined : `${name} has not been built: run ${command} where Go is on PATH`),
    build() {
      if (existsSync(cached)) return undefined;
      if (!hasGo()) return "no go on PATH";
      const temporary = `${cached}.${process.pid}`;
      mkdirSync(temporary, { recursive: true });
      const go = (verb: readonly string[], imported: readonly string[]): string | undefined =>
        runGo({
          args: [...verb, "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", `${temporary}/`, ...imported],
          timeoutMinutes: maxBuildMinutes,
          directory: module,
          env: { GOMAXPROCS: "2", ...(cgo ? { CGO_ENABLED: "1" } : {}) },
        });
      const failure = go(["build"], packages) ?? (tests.length === 0 ? undefined : go(["test", "-c"], tests));
      for (const file of failure === undefined ? files : []) copyModuleFile(module, required, file, temporary);
      if (failure === undefined) renameSync(temporary, cached);
      else rmSync(temporary, { recursive: true, force: true });
      return failure;
    },
  };
}

/** Runs builds until one fails. Prints one line then, and never fails itself: the tests are skipped. */
export function buildOrSay(title: string, ...builds: readonly (() => string | undefined)[]): void {
  for (const build of builds) {
    const why = build();
    if (why !== undefined) return void process.stderr.write(`plexus: tests beside ${title} will be skipped: ${why}\n`);
  }
}

/** Copies a file or directory of the required module, which the build has downloaded. */
function copyModuleFile(module: string, required: string, file: string, target: string): void {
  const options = { cwd: module, encoding: "utf8" } as const;
  const source = execFileSync("go", ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", required], options).trim();
  const copy = join(target, basename(file));
  cpSync(join(source, file), copy, { recursive: true });
  // The module cache is read-only.
  execFileSync("chmod", ["-R", "u+w", copy]);
}
