// Where a type's plugin is, by the hands' own rule (host/hands/plugin-path.c): for who explains without calling.

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";

export interface FoundPlugin {
  readonly kind: "native" | "component";
  readonly path: string;
}

const mostBytesOfName = 255;
/** `\0asm`, any version, layer 1. */
const magic = Uint8Array.of(0x00, 0x61, 0x73, 0x6d);

/** Looks the type up in the directories, which colons divide; undefined where none has it. */
export function findPlugin(type: string, cniPath: string, prefer: WasmConfiguration["prefer"]): FoundPlugin | undefined {
  if (type === "" || type.includes("/") || type.includes("\0") || Buffer.byteLength(type) > mostBytesOfName) return undefined;
  const componentFirst = typeof prefer === "boolean" ? prefer : prefer.includes(type);
  const kinds = componentFirst ? (["component", "native"] as const) : (["native", "component"] as const);
  for (const directory of cniPath.split(":").filter((each) => each !== "")) {
    for (const kind of kinds) {
      const path = join(directory, kind === "component" ? `${type}.wasm` : type);
      if (kind === "component" ? isComponent(path) : isFile(path)) return { kind, path };
    }
  }
  return undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
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
