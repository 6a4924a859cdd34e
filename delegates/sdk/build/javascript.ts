// A delegate in JavaScript or TypeScript becomes a component with an interpreter, QuickJS or StarlingMonkey. Nothing of WASI is left to call.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { capabilitiesOf } from "./abi.ts";
import { checkedDirectory, checkedModules, withCheckedImports } from "./checked-values.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { withoutCustomSections } from "./core-module.ts";
import { witOfDelegate } from "./delegate-world.ts";
import { entryModule } from "./javascript-entry.ts";
import { stageSources, type SourceModule } from "./javascript-sources.ts";
import type { InterpretedSources } from "./interpreted-sources.ts";
import { languageIn } from "./language.ts";
import { requireTools } from "./tools.ts";

/** Each interpreter's tool, which is loaded when it is used. */
const componentizers = {
  quickjs: async () => (await import("./quickjs.ts")).componentizeWithQuickJs,
  starlingmonkey: async () => (await import("./starlingmonkey.ts")).componentizeWithStarlingMonkey,
} as const;

/** Compiles `src/index.js` or `src/index.ts`. Throws an Error for the author. */
export async function compileJavaScript({ dir, declaration, abi, interpreter }: LanguageInput): Promise<CompiledComponent> {
  const { entry } = languageIn(dir);
  if (interpreter === "quickjs") requireTools(["componentize-qjs"], "delegates in JavaScript and TypeScript");
  else requireTools(["@bytecodealliance/componentize-js", "@bytecodealliance/preview2-shim"], "delegates with StarlingMonkey");
  const root = await mkdtemp(join(tmpdir(), "plexus-javascript-"));
  try {
    const modules = await stageSources(dir, root);
    const called = calledIn(modules, abi.version);
    const declared = Object.keys(declaration.capabilities);
    await writeChecks(root, abi, declared, modules);
    const witFile = join(root, "delegate.wit");
    await writeFile(witFile, witOfDelegate(abi, declared));
    const entryText = entryModule({ entry, version: abi.version, logs: declared.includes("log"), interpreter });
    const entryFile = join(root, "plexus-entry.js");
    await writeFile(entryFile, entryText);
    // An undeclared capability is not in the world; the caller's message says what to do.
    if (called.some((name) => !declared.includes(name))) return { bytes: new Uint8Array(), called };
    const sources: InterpretedSources = { root, modules, entryText, entryFile, witFile };
    const componentize = await componentizers[interpreter]();
    const bytes = await componentize(sources).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${resolve(dir)} does not compile:\n${message.replaceAll(root, "").trim()}`, { cause: error });
    });
    // `console` writes to the log.
    const used = declared.includes("log") ? [...new Set([...called, "log"])].toSorted() : called;
    return { bytes: withoutCustomSections(bytes), called: used };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Writes the modules that check values, and lets the delegate's modules import the contract from them. */
async function writeChecks(
  root: string,
  abi: LanguageInput["abi"],
  declared: readonly string[],
  modules: readonly SourceModule[],
): Promise<void> {
  await mkdir(join(root, checkedDirectory));
  for (const [name, text] of checkedModules(abi.model, declared)) await writeFile(join(root, checkedDirectory, name), text);
  for (const { path, text } of modules)
    await writeFile(join(root, path), withCheckedImports(text, contractImport, path.split("/").length - 1));
}

/** An import or export statement of an interface of the contract. */
const contractImport = /^[ \t]*(?:import|export)\b(?:[^"';]*\bfrom)?\s*["'](cni:delegate\/([\w-]+)[^"']*)["']/gm;

/** The capabilities that the modules import. Throws an Error for an interface that the ABI version of `delegate.json` lacks. */
function calledIn(modules: readonly SourceModule[], version: string): readonly string[] {
  const called = new Set<string>();
  const valid = capabilitiesOf(version) ?? [];
  for (const { path, text } of modules) {
    for (const [, specifier = "", name = ""] of text.matchAll(contractImport)) {
      if (specifier !== `cni:delegate/${name}@${version}` || !valid.includes(name)) {
        const list = valid.map((each) => `cni:delegate/${each}@${version}`).join(", ");
        throw new Error(`${path}: ${specifier} does not exist for the ABI version of delegate.json; valid: ${list}`);
      }
      called.add(name);
    }
  }
  return [...called].toSorted();
}
