// For tests: the built shim, and a directory that serves as CNI_PATH with plugins of the test's own making.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { builtOnce } from "../../../lab/compiled.ts";
import { buildShim, shimSources, LANGUAGE_FLAGS } from "../../../../host/shim/build.ts";

const dist = fileURLToPath(new URL("../../../../dist", import.meta.url));
const probeSource = fileURLToPath(new URL("probe.c", import.meta.url));

/** A test's directory with the shim and plugins. */
export interface Workshop {
  readonly shim: string;
  /** A temporary directory; the rest is in it. */
  readonly directory: string;
  readonly cniPath: string;
  /** Writes an executable shell script as plugin `name`; answers its path. */
  script(name: string, text: string): string;
  /** Installs the compiled probe as plugin `name`. */
  probe(name: string): string;
  /** Writes a component `name`.wasm: the magic bytes and `rest`. */
  component(name: string, rest?: string): string;
  /** The shim, compiled with other bounds of bounds.h, in ms. */
  shimWith(bounds: Readonly<Record<string, number>>): string;
  dispose(): void;
}

/** The texts of all sources and headers of the shim. */
function shimTexts(): readonly string[] {
  const folder = dirname(shimSources()[0] ?? "");
  const names = readdirSync(folder).filter((name) => /\.[ch]$/.test(name));
  return names.toSorted().map((name) => readFileSync(join(folder, name), "utf8"));
}

/** Builds the shim (once) and makes a fresh directory. */
export async function openWorkshop(): Promise<Workshop> {
  const { path: shim } = await buildShim({ outDir: dist });
  const directory = mkdtempSync(join(tmpdir(), "plexus-shim-"));
  const cniPath = join(directory, "cni");
  mkdirSync(cniPath);
  const shimWith = (bounds: Readonly<Record<string, number>>): string => {
    const defined = Object.entries(bounds).map(([name, ms]) => `${name}=${ms}`);
    const path = join(directory, defined.join("-"), "plexus");
    if (existsSync(path)) return path;
    mkdirSync(dirname(path));
    const flags = [...LANGUAGE_FLAGS, '-DPLEXUS_VERSION="0.0.0"', ...defined.map((each) => `-D${each}`)];
    const compiledShim = builtOnce("bounded-shim", [flags.join(" "), ...shimTexts()], (output) => {
      execFileSync("cc", [...flags, "-o", output, ...shimSources()]);
    });
    // The program's name is part of what tests look for.
    copyFileSync(compiledShim, path);
    return path;
  };
  return {
    shim,
    directory,
    cniPath,
    script(name, text) {
      const path = join(cniPath, name);
      writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return path;
    },
    probe(name) {
      const flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1"];
      const compiled = builtOnce("probe", [flags.join(" "), readFileSync(probeSource, "utf8")], (output) => {
        execFileSync("cc", [...flags, "-o", output, probeSource]);
      });
      const path = join(cniPath, name);
      copyFileSync(compiled, path);
      chmodSync(path, 0o755);
      return path;
    },
    component(name, rest = "") {
      const path = join(cniPath, `${name}.wasm`);
      writeFileSync(path, Buffer.concat([COMPONENT_MAGIC, Buffer.from(rest)]));
      return path;
    },
    shimWith,
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A bound in ms that no test reaches. */
export const endlessMs = 3_600_000;

/** The first bytes of a component: `\0asm`, version 13, layer 1. */
export const COMPONENT_MAGIC = Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00]);
/** The first bytes of a core module. */
export const MODULE_MAGIC = Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(
      execFileSync("cat", [`/proc/${pid}/status`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    );
  } catch {
    return false;
  }
}

/** Waits at most two minutes until `holds` answers true; answers whether it did. */
export async function soon(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 6000; tries++) {
    if (holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return holds();
}
