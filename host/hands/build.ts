// Compiles the hands, `dist/plexus`: static, hardened, stripped. Compiles nothing when sources, flags and compiler are
// the ones of the last time. As a script: node host/hands/build.ts [OUT-DIR].

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
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { z } from "zod";

export interface BuildHandsInit {
  /** Where `plexus` goes; made if missing. */
  readonly outDir: string;
  /** The C compiler; `$CC` or `cc` unless given. */
  readonly cc?: string;
}

export interface BuiltHands {
  /** The executable. */
  readonly path: string;
  /** How it is linked: the first of these that the libc here allows. */
  readonly linkage: Linkage;
  /** In bytes. */
  readonly size: number;
  /** False: it was there already, made of the same inputs. */
  readonly compiled: boolean;
}

export type Linkage = "static-pie" | "static" | "dynamic";

const directory = fileURLToPath(new URL(".", import.meta.url));
const packageFile = fileURLToPath(new URL("../../package.json", import.meta.url));

/** Warnings are errors; language and libc level. Tests compile the same sources with them. */
export const LANGUAGE_FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"] as const;

const HARDENING_FLAGS = [
  "-O2",
  "-U_FORTIFY_SOURCE",
  "-D_FORTIFY_SOURCE=2",
  "-fstack-protector-strong",
  "-fno-strict-aliasing",
] as const;
const SIZE_FLAGS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"] as const;
const LINK_FLAGS = ["-Wl,-z,relro,-z,now,-z,noexecstack"] as const;

const LINKAGES: Readonly<Record<Linkage, readonly string[]>> = {
  "static-pie": ["-fPIE", "-static-pie"],
  static: ["-static"],
  dynamic: ["-fPIE", "-pie"],
};

/** The hands' C sources, absolute, sorted. */
export function handsSources(): readonly string[] {
  return namesEnding(".c").map((name) => join(directory, name));
}

function namesEnding(...endings: readonly string[]): readonly string[] {
  return readdirSync(directory)
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .sort();
}

function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(packageFile, "utf8"))).version;
}

const Stamp = z.object({ inputs: z.string(), linkage: z.enum(["static-pie", "static", "dynamic"]) });

function readStamp(path: string): z.infer<typeof Stamp> | undefined {
  try {
    return Stamp.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined; // none yet, or of another release: compile
  }
}

/**
 * Makes `outDir/plexus`. A binary that is being executed is replaced, never written to. Throws with the compiler's own
 * words where no linkage works.
 */
export async function buildHands({ outDir, cc = process.env["CC"] ?? "cc" }: BuildHandsInit): Promise<BuiltHands> {
  const flags = [...LANGUAGE_FLAGS, ...HARDENING_FLAGS, ...SIZE_FLAGS, ...LINK_FLAGS, `-DPLEXUS_VERSION="${packageVersion()}"`];
  const hash = createHash("sha256").update(
    JSON.stringify([flags, LINKAGES, execFileSync(cc, ["--version"], { encoding: "utf8" })]),
  );
  for (const name of namesEnding(".c", ".h")) hash.update(`\0${name}\0`).update(readFileSync(join(directory, name)));
  const inputs = hash.digest("hex");

  const path = join(outDir, "plexus");
  const stampPath = join(outDir, "plexus.build.json");
  const stamp = readStamp(stampPath);
  if (stamp?.inputs === inputs && existsSync(path)) {
    return { path, linkage: stamp.linkage, size: statSync(path).size, compiled: false };
  }

  mkdirSync(outDir, { recursive: true });
  const own = `${path}.${process.pid}`;
  try {
    const linkage = compile(cc, flags, own);
    chmodSync(own, 0o755);
    renameSync(own, path);
    writeFileSync(stampPath, JSON.stringify({ inputs, linkage }));
    return { path, linkage, size: statSync(path).size, compiled: true };
  } finally {
    rmSync(own, { force: true });
  }
}

function compile(cc: string, flags: readonly string[], output: string): Linkage {
  let words = "";
  for (const linkage of ["static-pie", "static", "dynamic"] as const) {
    try {
      execFileSync(cc, [...flags, ...LINKAGES[linkage], "-o", output, ...handsSources()], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return linkage;
    } catch (error) {
      words = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(`the hands do not compile with ${cc}: ${words}`);
}

if (import.meta.main) {
  const built = await buildHands({ outDir: process.argv[2] ?? "dist" });
  process.stderr.write(`plexus: ${built.path}: ${built.linkage}, ${built.size} bytes${built.compiled ? "" : " (unchanged)"}\n`);
}
