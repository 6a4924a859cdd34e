// Where a type's plugin is, by the hands' own rule (host/hands/plugin-path.c): for who explains without calling.

import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";

export interface FoundPlugin {
  readonly kind: "native" | "component";
  readonly path: string;
}

const mostBytesOfName = 255;
/** `\0asm`, any version, layer 1. */
const magic = Uint8Array.of(0x00, 0x61, 0x73, 0x6d);

/** None: `unfit` is the path of what has the name and is no plugin, or empty. */
export interface NoPlugin {
  readonly kind: "missing";
  readonly unfit: string;
}

/** Looks the type up in the directories, which colons divide. */
export function findPlugin(type: string, cniPath: string, prefer: WasmConfiguration["prefer"]): FoundPlugin | NoPlugin {
  const nothing = { kind: "missing", unfit: "" } as const;
  if (type === "" || type.includes("/") || type.includes("\0") || Buffer.byteLength(type) > mostBytesOfName) return nothing;
  const componentFirst = typeof prefer === "boolean" ? prefer : prefer.includes(type);
  const kinds = componentFirst ? (["component", "native"] as const) : (["native", "component"] as const);
  let unfit = "";
  for (const directory of cniPath.split(":").filter((each) => each !== "")) {
    for (const kind of kinds) {
      const path = join(directory, kind === "component" ? `${type}.wasm` : type);
      if (kind === "component" ? isComponent(path) : isFile(path)) {
        return kind === "component" || isExecutable(path) ? { kind, path } : { kind: "missing", unfit: path };
      }
      if (unfit === "" && existsSync(path)) unfit = path;
    }
  }
  return { kind: "missing", unfit };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** By somebody: the hands are root. */
function isExecutable(path: string): boolean {
  return (statSync(path).mode & 0o111) !== 0;
}

function isComponent(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(8);
    return (
      fstatSync(descriptor).isFile() &&
      readSync(descriptor, start, 0, start.length, 0) === start.length &&
      start.subarray(0, magic.length).equals(magic) &&
      start.readUInt16LE(6) === 1
    );
  } finally {
    closeSync(descriptor);
  }
}
