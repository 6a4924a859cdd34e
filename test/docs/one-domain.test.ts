// One domain for all that Plexus names in Kubernetes: `plexus.dev`. Annotations, labels, finalizers and groups have it as their prefix; keys within
// NPWG's documents have it as a reverse domain name, `dev.plexus`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { textFiles } from "./text-files.ts";

const topLevels = "dev|io|org|net|com|cloud|app|run|sh";
/** A domain in front of a slash, a colon or the end of a name, unless the domain is a part of a URL or of a mail address. */
const domain = new RegExp(`(?<![\\w@/.-])(?:[a-z0-9-]+\\.)*?([a-z0-9-]*plexus[a-z0-9-]*\\.(?:${topLevels}))(?![\\w.-])`, "g");
const reverseDomain = new RegExp(`(?<![\\w@/.-])((?:${topLevels})\\.[a-z0-9-]*plexus[a-z0-9-]*)(?=\\.[a-z])`, "g");

function domainsOf(text: string): readonly string[] {
  return [...text.matchAll(domain), ...text.matchAll(reverseDomain)].map(([, name]) => name ?? "");
}

test("each key, group and label of Plexus is in the domain plexus.dev", () => {
  const found = new Map<string, string[]>();
  for (const file of textFiles(["."])) {
    if (file === "test/docs/one-domain.test.ts") continue;
    for (const name of domainsOf(readFileSync(join(root, file), "utf8"))) found.set(name, [...(found.get(name) ?? []), file]);
  }
  const others = [...found].filter(([name]) => name !== "plexus.dev" && name !== "dev.plexus");
  expect(others).toEqual([]);
  expect([...found.keys()].toSorted()).toEqual(["dev.plexus", "plexus.dev"]);
});

test.each([
  ['"plexus-cni.dev/verify"', ["plexus-cni.dev"]],
  ["metadata.name: externalports.plexus.io", ["plexus.io"]],
  ["group: plexus.dev", ["plexus.dev"]],
  ["externalports.plexus.dev/status", ["plexus.dev"]],
  ['"dev.plexus-cni.default-route"', ["dev.plexus-cni"]],
  ['"io.plexus.route"', ["io.plexus"]],
  ["https://example.com/plexus.run/x", []],
  ["stage.plexus.state, /run/plexus.sock, plexus.network", []],
])("%j has the domains %j", (text, domains) => {
  expect(domainsOf(text)).toEqual(domains);
});
