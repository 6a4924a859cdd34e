// Finds the plugin of a type for `plexusctl explain`, by the same rule as the shim (host/shim/plugin-path.c).

import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { join } from "node:path";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { statsOf } from "../../store/files/stats-of.ts";

/** A plugin of CNI_PATH. */
export interface FoundPlugin {
  readonly kind: "native" | "component";
  readonly path: string;
}

/** NAME_MAX of Linux. */
const maxNameBytes = 255;
/** A component starts with `\0asm`, any version, and layer 1. */
const magic = Uint8Array.of(0x00, 0x61, 0x73, 0x6d);

/** No plugin was found. `unfit` is the path of a file with the right name that is not a plugin, or empty. */
export interface NoPlugin {
  readonly kind: "missing";
  readonly unfit: string;
}

/** Looks the type up in the directories of `cniPath`, which are separated by colons. */
export function findPlugin(type: string, cniPath: string, prefer: WasmConfiguration["prefer"]): FoundPlugin | NoPlugin {
  const missing = { kind: "missing", unfit: "" } as const;
  if (type === "" || type.includes("/") || type.includes("\0") || Buffer.byteLength(type) > maxNameBytes) return missing;
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
  return statsOf(path)?.isFile() === true || isLinkOfNode(path);
}

/**
 * Whether the path is an absolute link that leads nowhere within a pod. There it leads into the node's file system, where the shim follows it,
 * and of which the pod has the plugins' directory only.
 */
function isLinkOfNode(path: string): boolean {
  if ((process.env["KUBERNETES_SERVICE_HOST"] ?? "") === "" || existsSync(path)) return false;
  try {
    return readlinkSync(path).startsWith("/");
  } catch {
    return false;
  }
}

/** Whether any user may execute the file: the shim runs as root, to which the kernel then allows it. */
function isExecutable(path: string): boolean {
  if (isLinkOfNode(path)) return true;
  return ((statsOf(path)?.mode ?? 0) & 0o111) !== 0;
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
