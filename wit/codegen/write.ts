// Writes each committed file that is generated from WIT: `node wit/codegen/write.ts`. A test fails if a committed file differs.
// The guest's files of the contract are not committed: a build of a delegate makes them.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { delegateBindings } from "./guest/delegate-bindings.ts";
import { generateGlue } from "./host/glue.ts";
import { readWit } from "./read-wit.ts";
import { contractPath, modelPath, releasesIn, witDirectory } from "./releases.ts";
import { echoBindings } from "./testing/echo-bindings.ts";

const root = join(witDirectory, "..");
const golden = "wit/codegen/guest/generated";

/** The text of each generated file, by its path in the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const version of releasesIn(witDirectory)) {
    const wit = await readFile(join(witDirectory, contractPath(version)), "utf8");
    const model = await readWit(wit);
    files.set(`wit/${modelPath(version)}`, `${JSON.stringify(model, null, 1)}\n`);
    files.set(`host/sandbox/abi/generated/delegate-${version}.ts`, generateGlue(model));
    files.set(`${golden}/delegate-${version}.ts`, delegateBindings(model, wit).entry.text);
  }
  const nasty = await readFile(new URL("testing/nasty.wit", import.meta.url), "utf8");
  const bindings = echoBindings(await readWit(nasty), "nasty", nasty);
  for (const [name, text] of [...bindings.files, ["entry.ts", bindings.entry.text]] as const)
    files.set(`${golden}/nasty/${name}`, text);
  return files;
}

/** The directories that have generated files only. */
export const generatedDirectories: readonly string[] = ["host/sandbox/abi/generated", golden];

if (import.meta.main) {
  const files = await generatedFiles();
  for (const directory of generatedDirectories) await rm(join(root, directory), { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
