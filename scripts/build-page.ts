// Bundles the browser's code of `plexusctl ui`: one script and one style sheet, which plexusctl puts into the page.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { refuseUnresolved } from "./refuse-unresolved.ts";

const source = "host/programs/plexusctl/ui/page";

/** Writes `page.js` and `page.css` into the directory; answers the absolute paths of the bundle's modules. */
export async function buildPage(directory: string): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: join(source, "main.tsx"),
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    onLog: refuseUnresolved,
  });
  const { output } = await bundle.generate({ format: "iife", minify: true, codeSplitting: false });
  await bundle.close();
  const [chunk] = output;
  // Within a page, these texts would end the script's element or change how it ends.
  for (const text of ["</script", "<!--"])
    if (chunk.code.toLowerCase().includes(text)) throw new Error(`the page's script contains ${text}`);
  writeFileSync(join(directory, "page.js"), chunk.code);
  const style = readFileSync(join(source, "page.css"), "utf8");
  if (style.includes("<")) throw new Error("the page's style contains <");
  writeFileSync(join(directory, "page.css"), style);
  return chunk.moduleIds;
}
