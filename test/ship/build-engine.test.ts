import { delegateCommands } from "../../host/programs/plexusctl/delegate/programs.ts";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";
import { admissionRulesDigest } from "../../scripts/admission-rules.ts";
import { refuseUnresolved } from "../../scripts/refuse-unresolved.ts";

async function bundled(source: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-bundle-"));
  try {
    const input = join(directory, "program.ts");
    writeFileSync(input, source);
    const bundle = await rolldown({ input, platform: "node", external: [/^node:/], onLog: refuseUnresolved });
    const { output } = await bundle.generate({ format: "cjs" });
    await bundle.close();
    return output[0].code;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("a build with a missing package fails, and names npm install as the remedy", async () => {
  await expect(bundled('import { a } from "a-package-that-is-not-there";\na();\n')).rejects.toThrow(
    /a-package-that-is-not-there[\s\S]*npm install/,
  );
});

test("a build with only Node's own modules succeeds", async () => {
  expect(await bundled('import { sep } from "node:path";\nconsole.log(sep);\n')).toContain('require("node:path")');
});

describe.skipIf(missing("packages of the built engine", missingBuild))("the built engine", () => {
  const directory = join(dist, "engine");
  const text = (name: string): string => readFileSync(join(directory, name), "utf8");

  test("FI-13: names the rules of admission that it was built with, in its records of admitted components", async () => {
    const digest = await admissionRulesDigest();
    const holders = readdirSync(directory).filter((name) => /\.c?js$/u.test(name) && text(name).includes(digest));
    expect(holders.length).toBeGreaterThan(0);
  });

  test.each([
    ["yaml", "node_modules/yaml/"],
    ["re2js", "node_modules/re2js/"],
  ])("has the package %s in a separate file, which is only imported dynamically and imports no other file", (_, comment) => {
    const files = readdirSync(directory).filter((name) => /\.c?js$/.test(name) && name !== delegateCommands);
    const holders = files.filter((name) => text(name).includes(comment));
    expect(holders).toEqual([expect.stringMatching(/\.cjs$/)]);
    const [holder = ""] = holders;
    expect(text(holder)).not.toMatch(/require\("\.\/(?!rolldown-runtime)/);
    const loading = files.flatMap((name) =>
      text(name)
        .split("\n")
        .filter((line) => line.includes(`require("./${holder}")`)),
    );
    expect(loading).not.toEqual([]);
    expect(loading.filter((line) => !line.includes("await Promise.resolve().then("))).toEqual([]);
  });
});
