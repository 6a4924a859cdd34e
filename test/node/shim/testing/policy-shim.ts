// The shim with a file of the test's own in the place of /etc/plexus/policy.json.

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { bareSources, buildShim, shimSources } from "../../../../host/shim/build.ts";
import { builtOnceLater, root } from "../../../lab/compiled.ts";
import { requirePrivateNamespaces } from "../../../lab/namespaces.ts";

/** A shim and the policy that it obeys. */
export interface PolicyShim {
  readonly path: string;
  /** The path of the policy's file, which does not exist yet. */
  readonly file: string;
  dispose(): void;
}

/**
 * Makes the shim as the build does, in `directory`. `name` is the test's own. The policy lies in the tests' private /run: a path that each run has
 * makes the same program for each run.
 */
export async function shimWithPolicy(directory: string, name: string): Promise<PolicyShim> {
  requirePrivateNamespaces();
  const place = join("/run/plexus-policies", name);
  const file = join(place, "policy.json");
  const built = await builtOnceLater("policy-shim", [file, ...buildTexts()], async (output) => {
    const outDir = mkdtempSync(join(tmpdir(), "plexus-policy-shim-"));
    try {
      const { path } = await buildShim({ outDir, definitions: [`POLICY_FILE="${file}"`] });
      copyFileSync(path, output);
    } finally {
      rmSync(outDir, { recursive: true });
    }
  });
  mkdirSync(place, { recursive: true, mode: 0o755 });
  // The program's name is part of what tests look for.
  const path = join(directory, "bounded", "plexus");
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(built, path);
  return { path, file, dispose: () => rmSync(place, { recursive: true, force: true }) };
}

/** Everything that the program depends on, the build's flags included. */
function buildTexts(): readonly string[] {
  const folders = new Set([...shimSources(), ...bareSources()].map((path) => dirname(path)));
  const sources = [...folders].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.[ch]$|^build\.ts$/.test(name))
      .toSorted()
      .map((name) => join(folder, name)),
  );
  return [...sources, join(root, "package.json")].map((path) => `${basename(path)}\n${readFileSync(path, "utf8")}`);
}
