// StarlingMonkey, the interpreter of Firefox as a component: with URL and TextEncoder, in components of 13 MB.

import { componentize } from "@bytecodealliance/componentize-js";
import { delegateWorld } from "./delegate-world.ts";
import type { InterpretedSources } from "./interpreted-sources.ts";

/** StarlingMonkey loads modules by relative paths only. */
const relativeOrContract = /^(?:\.{1,2}\/|cni:delegate\/)/;
const imported = /^[ \t]*(?:import|export)\b(?:[^"';]*\bfrom)?\s*["']([^"']+)["']/gm;

/** The component with StarlingMonkey, without WASI. Rejects with an Error for the author, or with the tool's message. */
export async function componentizeWithStarlingMonkey(sources: InterpretedSources): Promise<Uint8Array> {
  for (const { path, text } of sources.modules) {
    for (const [, specifier = ""] of text.matchAll(imported)) {
      if (relativeOrContract.test(specifier)) continue;
      throw new Error(`${path} imports ${specifier}: with StarlingMonkey, a delegate can't have npm packages. Use QuickJS`);
    }
  }
  const { component } = await componentize({
    sourcePath: sources.entryFile,
    witPath: sources.witFile,
    worldName: delegateWorld,
    disableFeatures: ["stdio", "random", "clocks", "http", "fetch-event"],
  });
  return component;
}
