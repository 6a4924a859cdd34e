// Generates `wit/<version>/model.json` from the WIT in the same directory. `--check` only checks that it is current.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { readWit } from "../wit/codegen/read-wit.ts";

const root = new URL("../wit/", import.meta.url);

/** The text that model.json must have for this WIT. */
export async function modelText(witSource: string): Promise<string> {
  return `${JSON.stringify(await readWit(witSource), null, 1)}\n`;
}

/** The released versions: the directories of wit/, each with its WIT and the path of its model. */
export async function releases(): Promise<{ version: string; wit: string; model: URL }[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const versions = entries.filter((e) => e.isDirectory()).map((e) => e.name);
  return Promise.all(
    versions.map(async (version) => ({
      version,
      wit: await readFile(new URL(`${version}/delegate.wit`, root), "utf8"),
      model: new URL(`${version}/model.json`, root),
    })),
  );
}

if (import.meta.main) {
  const check = process.argv.includes("--check");
  for (const release of await releases()) {
    const text = await modelText(release.wit);
    const current = await readFile(release.model, "utf8").catch(() => "");
    if (current === text) continue;
    if (check) {
      process.stderr.write(`wit/${release.version}/model.json is out of date: run node scripts/wit-model.ts\n`);
      process.exitCode = 1;
    } else await writeFile(release.model, text);
  }
}
