// Writes the generated glue of every version of wit/: `node host/sandbox/abi/build.ts`. A test fails if the committed glue differs.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { WitModel } from "../model.ts";
import { generateGlue } from "./host/glue.ts";

const wit = new URL("../", import.meta.url);

/** The generated module of each version, with its path. */
export function glueFiles(): readonly { readonly version: string; readonly file: URL; readonly text: string }[] {
  const versions = readdirSync(wit, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  return versions.map((version) => {
    const model: WitModel = JSON.parse(readFileSync(new URL(`${version}/model.json`, wit), "utf8"));
    return { version, file: new URL(`./generated/delegate-${version}.ts`, import.meta.url), text: generateGlue(model) };
  });
}

if (import.meta.main) for (const { file, text } of glueFiles()) writeFileSync(file, text);
