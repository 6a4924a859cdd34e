// Test files that only compute: their outcome depends on neither the user nor the machine, and they leave nothing behind.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Modules of Node without an effect outside of the process, without a process, a user and a file. */
const harmlessModules: ReadonlySet<string> = new Set(
  ["assert", "buffer", "crypto", "events", "path", "perf_hooks", "timers", "timers/promises", "url", "util"].map(
    (name) => `node:${name}`,
  ),
);
/** Packages that compute. A package that is not here may act. */
const harmlessPackages: ReadonlySet<string> = new Set(["fast-check", "re2js", "vitest", "yaml", "zod"]);

/** Static imports and re-exports, and dynamic imports. A name in a comment only makes the answer stricter. */
const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/gu;
/** Ways to Node, to programs and to the network that need no import, and imports whose target the text does not name. */
const actsWithoutImport =
  /\bprocess\s*(?:\.|\[|\?)|\}\s*=\s*process\b|\bglobalThis\b|\bfetch\(|\brequire\(|\bimport\(\s*[^"'\s]|\bgetBuiltinModule\b/u;

interface Source {
  readonly imports: readonly string[];
  readonly acts: boolean;
}

/** Paths of the test files below `root` whose modules, the imported ones included, only compute; sorted. */
export function computingTests(root: string): readonly string[] {
  const sources = new Map<string, Source>();
  const sourceOf = (path: string): Source => {
    const known = sources.get(path);
    if (known !== undefined) return known;
    const source = readSource(root, path);
    sources.set(path, source);
    return source;
  };
  const computes = (file: string): boolean => {
    const reached = new Set([file]);
    for (const path of reached) {
      const { imports, acts } = sourceOf(path);
      if (acts) return false;
      for (const each of imports) reached.add(each);
    }
    return true;
  };
  return globSync("{src,host,delegates,test,scripts,bench}/**/*.test.ts", { cwd: root, exclude: ["**/node_modules/**"] })
    .filter((path) => !path.startsWith("test/cluster/"))
    .filter(computes)
    .toSorted();
}

function readSource(root: string, path: string): Source {
  if (!/\.(?:ts|tsx|mts|js|mjs|json)$/u.test(path) || !existsSync(join(root, path))) return { imports: [], acts: true };
  const text = readFileSync(join(root, path), "utf8");
  if (path.endsWith(".json")) return { imports: [], acts: false };
  const names = [...text.matchAll(specifier)].map(([, name = ""]) => name);
  const local = names.filter((name) => name.startsWith("."));
  const acts = names.some((name) => !name.startsWith(".") && !harmlessModules.has(name) && !harmlessPackages.has(name));
  return { imports: local.map((name) => join(dirname(path), name)), acts: acts || actsWithoutImport.test(withoutComments(text)) };
}

/** The text without lines that are comments, which speak of processes. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gmu, "");
}
