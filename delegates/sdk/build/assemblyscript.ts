// A delegate in AssemblyScript becomes a component.

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { interfaceId } from "../../../wit/codegen/shapes.ts";
import { delegateWorld } from "../../../wit/codegen/guest/delegate-bindings.ts";
import { bindingsOf, capabilitiesOf, libraryBindings } from "./abi.ts";
import { compileApart } from "./compile-apart.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { asconfigFile } from "./kit-files.ts";
import { requireTools } from "./tools.ts";

/** Compiles `assembly/index.ts`. Throws an Error for the author. */
export async function compileAssemblyScript({ dir, declaration, abi, quick, names }: LanguageInput): Promise<CompiledComponent> {
  requireTools(["assemblyscript"], "delegates in AssemblyScript");
  const bindings = bindingsOf(abi);
  const abort = "log" in declaration.capabilities ? "abort-log" : "abort-silent";
  const entry = "delegate-entry.ts";
  const virtual = libraryBindings(bindings);
  virtual.set(entry, `${bindings.entry.text}import "plexus/${abort}";\n`);
  const module = await compileApart({
    dir,
    entry,
    virtual,
    options: [...(await compilerOptions(quick)), ...(names ? ["--debug"] : []), "--use", `abort=~lib/plexus/${abort}/abort`],
  });
  // Loaded here, because loading the tools takes longer than reading the cache.
  const { componentize } = await import("./componentize.ts");
  const ids = new Map((capabilitiesOf(abi.version) ?? []).map((name) => [interfaceId(abi.model, name), name]));
  const { bytes, imports } = await componentize({
    module,
    exportNames: bindings.entry.exportNames,
    witSource: abi.wit,
    world: delegateWorld,
    keepsNames: names,
    importable: [...ids.keys()],
  });
  return { bytes, called: imports.map((id) => ids.get(id) ?? id) };
}

/** The compiler's options in asconfig.json, as arguments. */
async function compilerOptions(quick: boolean): Promise<string[]> {
  const { options } = z
    .object({ options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) })
    .parse(JSON.parse(await readFile(asconfigFile, "utf8")));
  const used = quick ? { ...options, optimizeLevel: 0, shrinkLevel: 0 } : options;
  return Object.entries(used).flatMap(([name, value]) => {
    if (typeof value === "boolean") return value ? [`--${name}`] : [];
    return [`--${name}`, String(value)];
  });
}
