// Compiles the shim, `dist/plexus`: static, hardened, stripped, and without a libc where possible. Compiles nothing when sources, flags
// and compiler have not changed. As a script: node host/shim/build.ts [OUT-DIR].

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { z } from "zod";

/** The settings of a build. */
export interface BuildShimInit {
  /** The output directory; created if missing. */
  readonly outDir: string;
  /** The C compiler; the default is `$CC`, else `cc`. */
  readonly cc?: string;
}

/** The built executable. */
export interface BuiltShim {
  /** The executable. */
  readonly path: string;
  /** The linkage: the first that this machine's compiler and libc support. */
  readonly linkage: Linkage;
  /** In bytes. */
  readonly size: number;
  /** False: an executable of the same inputs exists already. */
  readonly compiled: boolean;
}

/** `bare`: without a libc, with `bare/` in its place (x86-64). */
export type Linkage = "bare" | "static-pie" | "static" | "dynamic";

const directory = fileURLToPath(new URL(".", import.meta.url));
const packageFile = fileURLToPath(new URL("../../package.json", import.meta.url));

/** Warnings are errors; language and libc level. Tests compile the same sources with them. */
export const LANGUAGE_FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"] as const;

const HARDENING_FLAGS = ["-O2", "-U_FORTIFY_SOURCE", "-fstack-protector-strong", "-fno-strict-aliasing"] as const;
/** Run-time checks of the libc (FORTIFY). */
const FORTIFIED = "-D_FORTIFY_SOURCE=2";
const SIZE_FLAGS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"] as const;
const LINK_FLAGS = ["-Wl,-z,relro,-z,now,-z,noexecstack"] as const;

/** Without a libc there is no thread-local memory for the stack protector's guard, so `bare/` has it as a global variable. */
export const BARE_FLAGS = [
  "-mstack-protector-guard=global",
  "-fvisibility=hidden",
  "-fPIE",
  "-static-pie",
  "-nostdlib",
  "-nostartfiles",
] as const;

const LINKAGES: Readonly<Record<Linkage, readonly string[]>> = {
  bare: BARE_FLAGS,
  "static-pie": [FORTIFIED, "-fPIE", "-static-pie"],
  static: [FORTIFIED, "-static"],
  dynamic: [FORTIFIED, "-fPIE", "-pie"],
};

const bareDirectory = join(directory, "bare");

/** The shim's C sources, absolute, sorted. */
export function shimSources(): readonly string[] {
  return filesEnding(directory, ".c");
}

/** The sources that replace a libc, absolute, sorted. */
export function bareSources(): readonly string[] {
  return filesEnding(bareDirectory, ".c");
}

function filesEnding(folder: string, ...endings: readonly string[]): readonly string[] {
  return readdirSync(folder)
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .sort()
    .map((name) => join(folder, name));
}

function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(packageFile, "utf8"))).version;
}

const Stamp = z.object({ inputs: z.string(), linkage: z.enum(["bare", "static-pie", "static", "dynamic"]) });

function readStamp(path: string): z.infer<typeof Stamp> | undefined {
  try {
    return Stamp.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined; // none yet, or of another release: compile
  }
}

/**
 * Makes `outDir/plexus`. Replaces the file and never writes to it: it may be running. Throws with the compiler's output where no linkage
 * works.
 */
export async function buildShim({ outDir, cc = process.env["CC"] ?? "cc" }: BuildShimInit): Promise<BuiltShim> {
  const flags = [...LANGUAGE_FLAGS, ...HARDENING_FLAGS, ...SIZE_FLAGS, ...LINK_FLAGS, `-DPLEXUS_VERSION="${packageVersion()}"`];
  const hash = createHash("sha256").update(
    JSON.stringify([flags, LINKAGES, execFileSync(cc, ["--version"], { encoding: "utf8" })]),
  );
  for (const folder of [directory, bareDirectory])
    for (const path of filesEnding(folder, ".c", ".h"))
      hash.update(`\0${relative(directory, path)}\0`).update(readFileSync(path));
  const inputs = hash.digest("hex");

  const path = join(outDir, "plexus");
  const stampPath = join(outDir, "plexus.build.json");
  const stamp = readStamp(stampPath);
  if (stamp?.inputs === inputs && existsSync(path)) {
    return { path, linkage: stamp.linkage, size: statSync(path).size, compiled: false };
  }

  mkdirSync(outDir, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  try {
    const linkage = compile(cc, flags, temporary);
    chmodSync(temporary, 0o755);
    renameSync(temporary, path);
    writeFileSync(stampPath, JSON.stringify({ inputs, linkage }));
    return { path, linkage, size: statSync(path).size, compiled: true };
  } finally {
    rmSync(temporary, { force: true });
  }
}

function compile(cc: string, flags: readonly string[], output: string): Linkage {
  let compilerOutput = "";
  for (const linkage of ["bare", "static-pie", "static", "dynamic"] as const) {
    const sources = linkage === "bare" ? [...shimSources(), ...bareSources()] : shimSources();
    try {
      execFileSync(cc, [...flags, ...LINKAGES[linkage], "-o", output, ...sources], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return linkage;
    } catch (error) {
      compilerOutput = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(`the shim does not compile with ${cc}: ${compilerOutput}`);
}

if (import.meta.main) {
  const built = await buildShim({ outDir: process.argv[2] ?? "dist" });
  process.stderr.write(`plexus: ${built.path}: ${built.linkage}, ${built.size} bytes${built.compiled ? "" : " (unchanged)"}\n`);
}
