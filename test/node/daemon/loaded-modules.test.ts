// The modules of optional features that a daemon without configuration loads. A feature that is off needs its description, and a resident part what notices
// that a call's configuration switches it on. The daemon runs from its sources, because a bundle's files have no names of modules.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { startDaemon } from "../../lab/daemon.ts";
import { dist } from "../../lab/plexus.ts";

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

/** An installation whose daemon runs from the sources, and writes the list of its modules. */
function installation(list: string): { readonly program: string; readonly hook: string } {
  const home = join(directory, "home");
  mkdirSync(home);
  for (const name of ["engine", "bin"]) symlinkSync(join(dist, name), join(home, name));
  const [program, hook] = [join(home, "plexusd.mjs"), join(home, "hook.mjs")];
  writeFileSync(program, `await import(${JSON.stringify(join(root, "host/programs/plexusd/main.ts"))});\n`);
  const lines = [
    'import { registerHooks } from "node:module";',
    'import { writeFileSync } from "node:fs";',
    "const seen = [];",
    `const write = () => writeFileSync(${JSON.stringify(list)}, JSON.stringify(seen));`,
    "registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });",
    'process.on("exit", write);',
  ];
  writeFileSync(hook, `${lines.join("\n")}\n`);
  return { program, hook };
}

test("a daemon without configuration loads these modules of optional features, and no more", async () => {
  const list = join(directory, "modules.json");
  const { program, hook } = installation(list);
  const args = ["--state-dir", join(directory, "state")];
  const daemon = await startDaemon({
    socket: join(directory, "run", "plexus.sock"),
    args,
    program,
    nodeArgs: ["--import", hook],
  });
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
