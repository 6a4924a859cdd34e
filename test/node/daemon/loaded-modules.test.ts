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
 * Modules of each feature. hot-plug, link-counters, link-watch, policies and services load their whole resident part: without them the daemon has 132 of its
 * modules less, and 3 % less resident memory.
 */
const expected: Readonly<Record<string, number>> = {
  "chain-trace": 5,
  claims: 3,
  components: 1,
  "dhcp-leases": 5,
  "external-ports": 2,
  "hot-plug": 14,
  "link-counters": 6,
  "link-watch": 15,
  "network-api": 2,
  "pod-networks": 2,
  policies: 35,
  pools: 3,
  probes: 2,
  "resource-claims": 1,
  services: 21,
};

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
  const found: Record<string, number> = {};
  for (const [feature, ...rest] of modules.map((path) => path.split("/")))
    if (feature !== undefined && rest.length > 0) found[feature] = (found[feature] ?? 0) + 1;
  expect(found).toEqual(expected);
});
