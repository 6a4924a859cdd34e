// A delegate in JavaScript or TypeScript becomes a component with the QuickJS interpreter. Nothing of WASI is left to call: QuickJS imports stubs.

import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { componentize } from "componentize-qjs";
import { capabilitiesOf } from "./abi.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { delegateWorld, witOfDelegate } from "./delegate-world.ts";
import { languageIn } from "./language.ts";
import { stageSources, type SourceModule } from "./javascript-sources.ts";
import { withoutCustomSections } from "./core-module.ts";

/** Compiles `src/index.js` or `src/index.ts`. Throws an Error for the author. */
export async function compileJavaScript({ dir, declaration, abi }: LanguageInput): Promise<CompiledComponent> {
  const { entry } = languageIn(dir);
  const root = await mkdtemp(join(tmpdir(), "plexus-javascript-"));
  try {
    const modules = await stageSources(dir, root);
    const called = calledIn(modules, abi.version);
    const declared = Object.keys(declaration.capabilities);
    const witFile = join(root, "delegate.wit");
    await writeFile(witFile, witOfDelegate(abi, declared));
    await mkdir(join(root, "plexus"));
    const jsSource = entryModule(entry, abi.version, declared.includes("log"));
    const jsPath = join(root, "plexus/entry.js");
    await writeFile(jsPath, jsSource);
    // An undeclared capability is not in the world; the caller's message says what to do.
    if (called.some((name) => !declared.includes(name))) return { bytes: new Uint8Array(), called };
    const { component } = await componentize({
      witPath: witFile,
      jsSource,
      jsPath,
      moduleRoot: root,
      world: delegateWorld,
      stubWasi: true,
      sync: true,
    }).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${resolve(dir)} does not compile:\n${message.replaceAll(root, "").trim()}`, { cause: error });
    });
    // `console` writes to the log.
    const used = declared.includes("log") ? [...new Set([...called, "log"])].toSorted() : called;
    return { bytes: withoutCustomSections(component), called: used };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
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

const verbs = ["add", "del", "check", "gc", "status"] as const;

/** The module around the author's: it exports the verbs, gives `console` to the log, and takes away what a delegate does not have. */
function entryModule(entry: string, version: string, logs: boolean): string {
  const write = logs
    ? `import { write } from "cni:delegate/log@${version}";\n`
    : `const write = () => { throw new Error("console: declare the capability log in delegate.json"); };\n`;
  return `${write}import * as delegate from "../${entry}";

const shown = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return \`\${value.name}: \${value.message}\\n\${value.stack ?? ""}\`.trim();
  return JSON.stringify(value) ?? String(value);
};
const printer = (level) => (...values) => write(level, values.map(shown).join(" "));
globalThis.console = {
  debug: printer("debug"),
  log: printer("info"),
  info: printer("info"),
  warn: printer("warn"),
  error: printer("error"),
};
const refuse = (message) => () => { throw new Error(message); };
Math.random = refuse("Math.random(): a delegate has no randomness");
Date.now = refuse("Date.now(): a delegate has no clock");

for (const verb of ${JSON.stringify(verbs)})
  if (typeof delegate[verb] !== "function") throw new Error(\`${entry} does not export the function \${verb}\`);
export const plugin = {
${verbs.map((verb) => `  ${verb}: (request) => delegate.${verb}(request),\n`).join("")}};
`;
}
