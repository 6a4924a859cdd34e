// The component on a command line, and the limits under which it is examined and run.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Limits } from "../../../host/sandbox/limits.ts";
import { CommandError, type CommandLine, exitCode } from "./command.ts";
import { readFailure } from "./read-failure.ts";

/** The options of a node's limits, named as in `wasm.limits`. */
export const limitOptions = [
  { name: "time-ms", value: "MS", about: "wasm.limits.timeMs of the node; default: 2000" },
  { name: "memory-mib", value: "MIB", about: "wasm.limits.memoryMiB of the node; default: 16" },
  { name: "component-mib", value: "MIB", about: "wasm.limits.componentMiB of the node; default: 4" },
  { name: "core-instances", value: "N", about: "wasm.limits.coreInstances of the node; default: 12" },
] as const;

/** The bytes of the file. Throws a CommandError. */
export function fileBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const isDirectory = error instanceof Error && "code" in error && error.code === "EISDIR";
    const hint = isDirectory
      ? "the component is build/NAME.wasm, which plexus-delegate build makes"
      : "plexus-delegate build makes a component";
    throw new CommandError(readFailure(path, error, { hint }), exitCode.usage, { cause: error });
  }
}

/** The plugin type of a component's file. */
export function typeOf(path: string): string {
  return basename(path).replace(/\.wasm$/, "");
}

/** The limits of the command line; absent ones have a node's defaults. */
export async function limitsOn(line: CommandLine): Promise<Limits> {
  const { limitsOf } = await import("../../../host/sandbox/limits.ts");
  return limitsOf({
    timeMs: numberOf(line, "time-ms"),
    memoryMiB: numberOf(line, "memory-mib"),
    componentMiB: numberOf(line, "component-mib"),
    coreInstances: numberOf(line, "core-instances"),
  });
}

/** The whole number of an option; undefined if it is absent. Throws a CommandError. */
export function numberOf({ values }: CommandLine, name: string): number | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError(`--${name}: ${text} is not a whole number from 1 to 999999999`, exitCode.usage);
}
