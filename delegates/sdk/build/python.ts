// A delegate in Python becomes a component with componentize-py: CPython, the author's modules as they are after their import, and no WASI.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { type Abi, capabilitiesOf } from "./abi.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { withoutCustomSections } from "./core-module.ts";
import { delegateWorld, witOfDelegate } from "./delegate-world.ts";
import { componentizePyVersion } from "./language.ts";
import { entryModule, entryText } from "./python-entry.ts";

/** Compiles `src/delegate.py` and the modules beside it. Throws an Error for the author. */
export async function compilePython({ dir, declaration, abi }: LanguageInput): Promise<CompiledComponent> {
  const declared = Object.keys(declaration.capabilities);
  const root = await mkdtemp(join(tmpdir(), "plexus-python-"));
  try {
    const called = calledIn(await stageSources(dir, root), abi);
    // componentize-py would report a module that does not exist; the caller's message says what to do.
    if (called.some((name) => !declared.includes(name))) return { bytes: new Uint8Array(), called };
    const bytes = await componentize(resolve(dir), root, abi, declared);
    // print() and exceptions write to the log.
    const used = declared.includes("log") ? [...new Set([...called, "log"])].toSorted() : called;
    return { bytes: withoutCustomSections(bytes), called: used };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Copies the files of `src/` to `root/src`, because Python writes compiled modules beside its sources. Answers the texts of the modules. */
async function stageSources(dir: string, root: string): Promise<readonly string[]> {
  const source = join(dir, "src");
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink());
  if (link !== undefined) {
    throw new Error(
      `${join(link.parentPath, link.name)} is a symbolic link, which a build does not follow: put the file itself there`,
    );
  }
  const texts: string[] = [];
  for (const entry of entries.filter((each) => each.isFile() && !each.parentPath.endsWith("__pycache__"))) {
    const file = join(entry.parentPath, entry.name);
    const content = await readFile(file);
    const staged = join(root, "src", relative(source, file));
    await mkdir(dirname(staged), { recursive: true });
    await writeFile(staged, content);
    if (entry.name.endsWith(".py")) texts.push(content.toString());
  }
  return texts;
}

/** `from wit_world.imports import a, b as c`, also in parentheses; and `wit_world.imports.a`. */
const importedNames =
  /^[ \t]*from[ \t]+wit_world\.imports[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]*))|\bwit_world\.imports\.(\w+)/gm;

/** The capabilities that the modules import. */
function calledIn(texts: readonly string[], { version }: Abi): readonly string[] {
  const names = texts.flatMap((text) =>
    [...text.matchAll(importedNames)].flatMap(([, inParentheses, onLine, path]) =>
      (inParentheses ?? onLine ?? path ?? "").split(",").map((each) => /\w+/.exec(each.replace(/#.*/g, ""))?.[0] ?? ""),
    ),
  );
  return (capabilitiesOf(version) ?? []).filter((each) => names.includes(each.replaceAll("-", "_"))).toSorted();
}

async function componentize(dir: string, root: string, abi: Abi, declared: readonly string[]): Promise<Uint8Array> {
  const [wit, entry, packages] = [join(root, "wit"), join(root, "entry"), join(root, "packages/lib/site-packages")];
  for (const each of [wit, entry, packages]) await mkdir(each, { recursive: true });
  await writeFile(join(wit, "delegate.wit"), witOfDelegate(abi, declared));
  await writeFile(join(entry, `${entryModule}.py`), entryText(declared.includes("log")));
  const file = join(root, "delegate.wasm");
  const world = ["--wit-path", wit, "--world", delegateWorld];
  const places = ["--python-path", join(root, "src"), "--python-path", entry];
  const args = ["--quiet", ...world, "componentize", "--stub-wasi", ...places, entryModule, "--output", file];
  // An empty virtual environment: packages of this machine must not become part of the component.
  const { status, output } = await run(programFor(dir), args, { VIRTUAL_ENV: join(root, "packages") });
  if (status !== 0) throw new Error(`${dir} does not compile:\n${authorsPart(output)}`);
  return readFile(file);
}

/** The delegate's own virtual environment comes first. */
function programFor(dir: string): string {
  const own = join(dir, ".venv/bin/componentize-py");
  return existsSync(own) ? own : "componentize-py";
}

/** The message without the frames of componentize-py and of the module around the author's. */
function authorsPart(output: string): string {
  const [, begun = output] = /AssertionError: ([\s\S]*)/.exec(output) ?? [];
  const [message = begun] = begun.split(/\n\s*(?:Caused by:|Stack backtrace:)/);
  return message
    .replaceAll(new RegExp(` {2}File "/\\d+/${entryModule}\\.py".*\\n(?: {4}.*\\n)*`, "g"), "")
    .replaceAll('File "/0/', 'File "src/')
    .trim();
}

function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((done, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (cause) => {
      const remedy = `python3 -m venv .venv && .venv/bin/pip install componentize-py==${componentizePyVersion}`;
      reject(new Error(`${program} does not start (${cause.message}): in the delegate's directory, run ${remedy}`));
    });
    child.on("close", (status) => done({ status, output: Buffer.concat(chunks).toString() }));
  });
}
