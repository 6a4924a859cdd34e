// The modules of optional features that a daemon without configuration loads. A feature that is off needs its description, and a resident part what notices
// that a call's configuration switches it on.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { startSourceDaemon } from "../../lab/source-daemon.ts";

/**
 * The features whose whole resident part a daemon loads: it notices that a call's configuration switches the feature on. Without them the daemon has a fifth of
 * its modules less, and 3 % less resident memory.
 */
const loadedWhole = ["hot-plug", "link-counters", "link-watch", "policies", "services"];
/** The most modules of another feature: its description, and what notices that it is on. */
const maxModules = 5;

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-modules-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a daemon without configuration loads these modules of optional features, and no more", async () => {
  const list = join(directory, "modules.json");
  const daemon = await startSourceDaemon(directory, [
    'import { registerHooks } from "node:module";',
    'import { writeFileSync } from "node:fs";',
    "const seen = [];",
    `const write = () => writeFileSync(${JSON.stringify(list)}, JSON.stringify(seen));`,
    "registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });",
    'process.on("exit", write);',
  ]);
  await daemon.stop();
  const modules = (JSON.parse(readFileSync(list, "utf8")) as readonly string[])
    .filter((url) => url.startsWith(`file://${root}/features/`))
    .map((url) => url.slice(`file://${root}/features/`.length));
  const found = new Map<string, number>();
  for (const [feature, ...rest] of modules.map((path) => path.split("/")))
    if (feature !== undefined && rest.length > 0) found.set(feature, (found.get(feature) ?? 0) + 1);
  const large = [...found].flatMap(([feature, count]) => (count > maxModules ? [feature] : []));
  expect(large.toSorted()).toEqual(loadedWhole);
});
