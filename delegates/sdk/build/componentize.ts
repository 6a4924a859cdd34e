// A core module becomes a component. jco's library functions do it; this runs on authors' machines, never on a node.

import { componentEmbed, componentNew } from "@bytecodealliance/jco";
import { coreImports, rename, withoutCustomSections } from "./core-module.ts";

/** A component and its imports. */
export interface ComponentizeInit {
  readonly module: Uint8Array;
  readonly exportNames: ReadonlyMap<string, string>;
  readonly witSource: string;
  readonly world: string;
  /** Full names of the interfaces that the world imports. */
  readonly importable: readonly string[];
  /** True: the functions keep their names for debuggers and profiles. */
  readonly keepsNames?: boolean;
}

export interface Component {
  readonly bytes: Uint8Array;
  /** Full names of the interfaces that the code calls. */
  readonly imports: readonly string[];
}

/** Errors for features that no delegate has, by the import that the compiler makes for each. */
const unavailable: Readonly<Record<string, string>> = {
  seed: "Math.random(): a delegate has no randomness",
  "Date.now": "Date: a delegate has no clock",
  "performance.now": "performance: a delegate has no clock",
  trace: "trace(): write to plexus/abi/log instead",
};

/** Creates the component. Throws an Error that names an import that no delegate can have. */
export async function componentize(init: ComponentizeInit): Promise<Component> {
  const imports = new Set<string>();
  for (const { module, name } of coreImports(init.module)) {
    if (init.importable.includes(module)) imports.add(module);
    else if (module === "env" && name.startsWith("console."))
      throw new Error("console is not available: write to plexus/abi/log instead");
    else throw new Error(`not available: ${unavailable[name] ?? `${module} ${name}`}`);
  }
  const core = rename(init.module, init.exportNames, init.keepsNames);
  // witSource, not a path: see ../wit/read-wit.ts.
  const embedded = await componentEmbed({ binary: core, witSource: init.witSource, world: init.world, stringEncoding: "utf8" });
  const bytes = withoutCustomSections(await componentNew(embedded, []));
  return { bytes, imports: [...imports].sort() };
}
