// The delegate that a command works on, and its component.

import { basename, dirname, join, resolve } from "node:path";
import type { BuiltDelegate } from "../build/build-delegate.ts";
import { kitFile } from "../build/kit-files.ts";
import { type Interpreter, interpreters } from "../build/language.ts";
import { unknown } from "./command-line.ts";
import { CommandError, type CommandLine, exitCode, type Output } from "./command.ts";

/** The options of commands that build. */
export const buildOptions = [
  { name: "out", value: "FILE", about: "the component's file; default: build/NAME.wasm in the delegate's directory" },
  { name: "quick", about: "without the optimiser: faster to build, larger and slower code" },
  { name: "names", about: "keeps the functions' names, which run --profile shows" },
  { name: "interpreter", value: "NAME", about: `of JavaScript: ${interpreters.join(", ")}; default: ${interpreters[0]}` },
  { name: "no-cache", about: "builds even if the same sources were built before" },
] as const;

/** A built delegate and its places. */
export interface BuiltDirectory extends BuiltDelegate {
  readonly dir: string;
  readonly outFile: string;
  /** Milliseconds of the build. */
  readonly ms: number;
}

/** Builds the delegate in the directory of the command line (default: the current one). Throws an Error for the author. */
export async function buildDirectory(line: CommandLine, output: Output): Promise<BuiltDirectory> {
  const dir = resolve(line.positionals[0] ?? ".");
  const { buildDelegate, readDeclaration } = await import("../build/build-delegate.ts");
  const { reservedBy } = await import("../build/delegate-name.ts");
  const { declaration } = await readDeclaration(dir);
  const outFile = resolve(line.values.get("out") ?? join(dir, "build", `${declaration.name}.wasm`));
  if (basename(outFile) !== `${declaration.name}.wasm`) {
    throw new CommandError(
      `--out: a component's file name is its type: ${join(dir, "delegate.json")} has the name ${declaration.name}, so the file must be ${declaration.name}.wasm`,
      exitCode.usage,
    );
  }
  const started = performance.now();
  const interpreter = interpreterOn(line);
  const how = { dir, outFile, quick: line.flags.has("quick"), names: line.flags.has("names"), interpreter };
  const built = await buildDelegate(line.flags.has("no-cache") ? { ...how, cacheDir: null } : how);
  // Plexus' own delegates, which replace reference plugins, lie beside the kit.
  const isPlexus = dirname(dir) === dirname(resolve(kitFile(".")));
  const owner = isPlexus ? undefined : reservedBy(declaration.name);
  const taken = owner === undefined ? [] : [`delegate.json: name: ${declaration.name} belongs to ${owner}: choose another name`];
  for (const warning of [...built.warnings, ...taken]) output.warn(`plexus-delegate: warning: ${warning}`);
  return { ...built, dir, outFile, ms: performance.now() - started };
}

function interpreterOn({ values }: CommandLine): Interpreter {
  const name = values.get("interpreter") ?? interpreters[0];
  const found = interpreters.find((each) => each === name);
  if (found !== undefined) return found;
  throw new CommandError(`--interpreter: ${unknown("interpreter", name, name, interpreters)}`, exitCode.usage);
}
