// Compiles the C programs: static, hardened, stripped, and without a libc where possible. Compiles nothing when sources, flags and
// compiler have not changed. As a script, compiles the shim: node host/shim/build.ts [OUT-DIR].

import { execFileSync, spawnSync } from "node:child_process";
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
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { z } from "zod";

/** The settings of a build. */
export interface BuildSettings {
  /** The output directory; created if missing. */
  readonly outDir: string;
  /** The C compiler; the default is `$CC`, else `cc`. */
  readonly cc?: string;
  /** More preprocessor definitions, for tests: `NAME=VALUE`. */
  readonly definitions?: readonly string[];
}

/** A C program to compile. */
export interface ProgramToBuild extends BuildSettings {
  /** The executable's name in `outDir`. */
  readonly name: string;
  /** The C sources, absolute. */
  readonly sources: readonly string[];
  /** Files that the sources include, absolute. */
  readonly headers: readonly string[];
  /** Whether `bare/` has every function that the program takes from a libc. */
  readonly bare: boolean;
  /** Whether this is an addon of Node, which the sources give their own start without a libc. */
  readonly isAddon?: boolean;
}

/** The built executable. */
export interface BuiltProgram {
  /** The executable. */
  readonly path: string;
  /** The linkage: the first that this machine's compiler and libc support. */
  readonly linkage: Linkage;
  /** In bytes. */
  readonly size: number;
  /** False: an executable of the same inputs exists already. */
  readonly compiled: boolean;
}

/** `bare`: without a libc, with `bare/` in its place (x86-64). `bare-addon` and `addon`: an addon of Node, without and with a libc. */
export type Linkage = "bare" | "static-pie" | "static" | "dynamic" | "bare-addon" | "addon";

const directory = fileURLToPath(new URL(".", import.meta.url));
const packageFile = fileURLToPath(new URL("../../package.json", import.meta.url));

/** Warnings are errors; language and libc level. Tests compile the same sources with them. */
export const LANGUAGE_FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"] as const;

const HARDENING_FLAGS = ["-O2", "-U_FORTIFY_SOURCE", "-fstack-protector-strong", "-fno-strict-aliasing"] as const;
/** Run-time checks of the libc (FORTIFY). */
const FORTIFIED = "-D_FORTIFY_SOURCE=2";
const SIZE_FLAGS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"] as const;
/** `separate-code`: no page has both code and data. */
const LINK_FLAGS = ["-Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code"] as const;

/** Hardening that older compilers and other processors lack: the first flag of each row that the compiler accepts is used. */
const OPTIONAL_FLAGS: readonly (readonly string[])[] = [
  // Indirect jumps and returns reach marked places only: x86-64, then ARM.
  ["-fcf-protection=full", "-mbranch-protection=standard"],
  // A large stack frame touches each of its pages, so that it cannot reach past the guard page.
  ["-fstack-clash-protection"],
  // Local variables begin as zero: no earlier content of the stack leaks. GCC 12, clang 16.
  ["-ftrivial-auto-var-init=zero"],
  // A check of a pointer stays although the pointer was used before.
  ["-fno-delete-null-pointer-checks"],
];

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
  "bare-addon": [
    "-DPLEXUS_WITHOUT_LIBC",
    "-mstack-protector-guard=global",
    "-fvisibility=hidden",
    "-fPIC",
    "-shared",
    "-nostdlib",
  ],
  addon: [FORTIFIED, "-fvisibility=hidden", "-fPIC", "-shared"],
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

/** The optional flags that this compiler accepts for this machine. */
function acceptedFlags(cc: string): readonly string[] {
  const first = OPTIONAL_FLAGS.flatMap(([flag]) => flag ?? []);
  if (compilerAccepts(cc, first)) return first;
  return OPTIONAL_FLAGS.flatMap((row) => row.find((flag) => compilerAccepts(cc, [flag])) ?? []);
}

/** `-Werror`: compilers only warn about some flags that they ignore. */
function compilerAccepts(cc: string, flags: readonly string[]): boolean {
  const args = ["-Werror", ...flags, "-x", "c", "-c", "-o", "/dev/null", "-"];
  return (
    spawnSync(cc, args, { input: "int answer(int value) { return value; }\n", stdio: ["pipe", "ignore", "ignore"] }).status === 0
  );
}

function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(packageFile, "utf8"))).version;
}

const Stamp = z.object({
  inputs: z.string(),
  linkage: z.enum(["bare", "static-pie", "static", "dynamic", "bare-addon", "addon"]),
});

function readStamp(path: string): z.infer<typeof Stamp> | undefined {
  try {
    return Stamp.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined; // none yet, or of another release: compile
  }
}

/**
 * Makes the shim, `outDir/plexus`. Replaces the file and never writes to it: it may be running. Throws with the compiler's output where no
 * linkage works.
 */
export function buildShim(settings: BuildSettings): Promise<BuiltProgram> {
  return buildProgram({ ...settings, name: "plexus", sources: shimSources(), headers: filesEnding(directory, ".h"), bare: true });
}

/** Makes `outDir/NAME` as `buildShim` makes the shim. */
export async function buildProgram({
  name,
  sources,
  headers,
  bare,
  isAddon = false,
  outDir,
  cc = process.env["CC"] ?? "cc",
  definitions = [],
}: ProgramToBuild): Promise<BuiltProgram> {
  const defined = [`PLEXUS_VERSION="${packageVersion()}"`, ...definitions].map((definition) => `-D${definition}`);
  const flags = [...LANGUAGE_FLAGS, ...HARDENING_FLAGS, ...SIZE_FLAGS, ...LINK_FLAGS, ...defined];
  const compilerVersion = execFileSync(cc, ["--version"], { encoding: "utf8" });
  const hash = createHash("sha256").update(JSON.stringify([flags, OPTIONAL_FLAGS, LINKAGES, bare, isAddon, compilerVersion]));
  for (const path of [...sources, ...headers, ...(bare ? filesEnding(bareDirectory, ".c", ".h") : [])])
    hash.update(`\0${basename(path)}\0`).update(readFileSync(path));
  const inputs = hash.digest("hex");

  const path = join(outDir, name);
  const stampPath = join(outDir, `${name}.build.json`);
  const stamp = readStamp(stampPath);
  if (stamp?.inputs === inputs && existsSync(path)) {
    return { path, linkage: stamp.linkage, size: statSync(path).size, compiled: false };
  }

  mkdirSync(outDir, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  try {
    const linkages = isAddon ? ADDON_LINKAGES : bare ? (["bare", ...LIBC_LINKAGES] as const) : LIBC_LINKAGES;
    const linkage = compile({ name, cc, flags: [...flags, ...acceptedFlags(cc)], sources, linkages, output: temporary });
    chmodSync(temporary, 0o755);
    renameSync(temporary, path);
    writeFileSync(stampPath, JSON.stringify({ inputs, linkage }));
    return { path, linkage, size: statSync(path).size, compiled: true };
  } finally {
    rmSync(temporary, { force: true });
  }
}

const ADDON_LINKAGES = ["bare-addon", "addon"] as const;
const LIBC_LINKAGES = ["static-pie", "static", "dynamic"] as const;

interface Compilation {
  readonly name: string;
  readonly cc: string;
  readonly flags: readonly string[];
  readonly sources: readonly string[];
  /** In the order of preference. */
  readonly linkages: readonly Linkage[];
  readonly output: string;
}

/** `start.c` is the entry of a program. */
const bareSourcesOf: Readonly<Partial<Record<Linkage, () => readonly string[]>>> = {
  bare: bareSources,
  "bare-addon": () => bareSources().filter((path) => basename(path) !== "start.c"),
};

function compile({ name, cc, flags, sources, linkages, output }: Compilation): Linkage {
  let compilerOutput = "";
  for (const linkage of linkages) {
    const all = [...sources, ...(bareSourcesOf[linkage]?.() ?? [])];
    try {
      execFileSync(cc, [...flags, ...LINKAGES[linkage], "-o", output, ...all], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return linkage;
    } catch (error) {
      compilerOutput = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(`${name} does not compile with ${cc}: ${compilerOutput}`);
}

if (import.meta.main) {
  const built = await buildShim({ outDir: process.argv[2] ?? "dist" });
  process.stderr.write(`plexus: ${built.path}: ${built.linkage}, ${built.size} bytes${built.compiled ? "" : " (unchanged)"}\n`);
}
