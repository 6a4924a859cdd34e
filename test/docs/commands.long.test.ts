// Runs the commands of each page in docs/ unchanged, in order, in one shell. Blocks marked `sh run` must succeed, blocks
// marked `sh run fails` must print CNI's error object.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";

interface Block {
  readonly page: string;
  readonly commands: string;
  readonly fails: boolean;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  return [...text.matchAll(/^```sh run( fails)?\n([\s\S]*?)^```$/gm)].map(([, fails, commands]) => ({
    page,
    commands: commands ?? "",
    fails: fails !== undefined,
  }));
}

const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
const marker = "=== end of block";

function runBlocks(blocks: readonly Block[]): { readonly status: number | null; readonly outputs: readonly string[] } {
  const script = blocks.map(({ commands, fails }) =>
    fails ? `set +e\n${commands}\nset -e\necho '${marker}'` : `${commands}\necho '${marker}'`,
  );
  const shell = spawnSync("bash", ["-e", "-u", "-o", "pipefail"], {
    cwd: root,
    input: `${script.join("\n")}\n`,
    encoding: "utf8",
    timeout: 900_000,
  });
  return { status: shell.status, outputs: `${shell.stdout}${shell.status === 0 ? "" : shell.stderr}`.split(`${marker}\n`) };
}

describe.skipIf(missing("commands of the docs", privateNamespaces, referencePlugins("bridge", "tuning")))("docs", () => {
  const runnable = pages.filter((page) => blocksOf(page).length > 0);

  test("the quick start has blocks marked `sh run`", () => {
    expect(runnable).toContain("quick-start.md");
  });

  test.each(runnable)("the commands of %s work unchanged", { timeout: 960_000 }, (page) => {
    const blocks = blocksOf(page);
    const { status, outputs } = runBlocks(blocks);
    expect({ status, outputs }).toMatchObject({ status: 0 });
    // A command that reads the shell's stdin would consume the rest of the page.
    expect(outputs).toHaveLength(blocks.length + 1);
    for (const [index, block] of blocks.entries()) {
      if (!block.fails) continue;
      const answer: unknown = JSON.parse(outputs[index] ?? "");
      expect(answer).toMatchObject({ code: expect.any(Number), msg: expect.stringContaining("10.77.0.0/33") });
    }
  });

  test("links between pages lead to existing files", () => {
    const broken = pages.flatMap((page) =>
      [...readFileSync(join(root, "docs", page), "utf8").matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target ?? "")
        .filter((target) => {
          try {
            readFileSync(join(root, "docs", page, "..", target));
            return false;
          } catch {
            return true;
          }
        })
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});
