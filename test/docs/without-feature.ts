// A copy of the work tree in which optional features are deleted: their folders, their lines in features/list.ts, and the tests of places that are
// about them, which import their files.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ImportGraph, readImportGraph } from "./import-graph.ts";

const list = "features/list.ts";

/** The copy. */
export class TreeCopy {
  readonly directory = mkdtempSync(join(tmpdir(), "plexus-tree-"));
  readonly #root: string;
  readonly #files: readonly string[];
  readonly #graph: ImportGraph;

  /** `root`: the repository; `files`: the files of its work tree. */
  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#files = files.filter((file) => existsSync(join(root, file)));
    for (const file of this.#files) {
      mkdirSync(dirname(join(this.directory, file)), { recursive: true });
      cpSync(join(root, file), join(this.directory, file));
    }
    symlinkSync(join(root, "node_modules"), join(this.directory, "node_modules"));
    this.#graph = readImportGraph(
      root,
      this.#files.filter((file) => /\.(?:m?ts|tsx)$/.test(file)),
    );
  }

  /** Deletes features. */
  delete(names: readonly string[]): void {
    const isOwn = (file: string): boolean => names.some((name) => file.startsWith(`features/${name}/`));
    const descriptions = this.#files.filter((file) => isOwn(file) && file.endsWith("/feature.ts"));
    for (const name of names) rmSync(join(this.directory, "features", name), { recursive: true });
    let text = readFileSync(join(this.directory, list), "utf8");
    for (const description of descriptions) {
      const path = description.slice("features/".length);
      const line = new RegExp(`^import \\{ (\\w+) \\} from "\\./${path.replace(".", "\\.")}";\n`, "mu").exec(text);
      if (line === null) throw new Error(`${list} has no line for ${description}`);
      text = text.replace(line[0], "").replace(/(?<=: readonly Feature\[\] = \[)[^\]]*/u, (items) =>
        items
          .split(",")
          .filter((item) => item.trim() !== line[1])
          .join(","),
      );
    }
    writeFileSync(join(this.directory, list), text);
    for (const file of this.#importersOf(this.#files.filter(isOwn))) {
      if (/^(?:test|bench)\//.test(file)) rmSync(join(this.directory, file), { force: true });
    }
  }

  /** All files that import one of these, directly or not. The list reaches every feature, so what only reads the list is no importer. */
  #importersOf(imported: readonly string[]): ReadonlySet<string> {
    const importers = Map.groupBy(
      [...this.#graph].flatMap(([from, imports]) => (from === list ? [] : imports.map((to) => ({ from, to })))),
      ({ to }) => to,
    );
    const found = new Set(imported);
    // A set also yields what is added during the loop.
    for (const file of found) for (const { from } of importers.get(file) ?? []) found.add(from);
    return found;
  }

  /** Takes the lines with these words out of the guides. */
  forgetInGuides(words: readonly string[]): void {
    for (const file of this.#files.filter((each) => /^docs\/(?!reference\/).*\.md$/.test(each))) {
      const path = join(this.directory, file);
      const lines = readFileSync(path, "utf8").split("\n");
      const kept = lines.filter((line) => !words.some((word) => line.includes(word)));
      if (kept.length < lines.length) writeFileSync(path, kept.join("\n"));
    }
  }

  /** Runs a program of node_modules in the copy; its output if it fails, else an empty text. */
  run(program: string, ...args: readonly string[]): string {
    const path = join(this.directory, "node_modules/.bin", program);
    return this.#outcome(spawnSync(path, args, { cwd: this.directory, encoding: "utf8", timeout: 3_600_000 }));
  }

  /**
   * Type-checks the copy; the compiler's output if it finds an error. The check begins with what that of the tree knows (scripts/type-check.sh). Paths
   * of packages are then those of the tree, so links are not followed.
   */
  typeCheck(): string {
    const known = join("dist", "types", "all.tsbuildinfo");
    if (existsSync(join(this.#root, known))) cpSync(join(this.#root, known), join(this.directory, known));
    return this.run("tsc", "--noEmit", "--preserveSymlinks", "--incremental", "--tsBuildInfoFile", known);
  }

  /** Runs a script of the copy. */
  script(path: string): string {
    return this.#outcome(spawnSync(process.execPath, [path], { cwd: this.directory, encoding: "utf8", timeout: 600_000 }));
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #outcome({ status, stdout, stderr, error }: ReturnType<typeof spawnSync>): string {
    return status === 0 ? "" : `${String(stdout)}${String(stderr)}${error?.message ?? ""}`;
  }
}
