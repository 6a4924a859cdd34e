// Declaration files of a package's modules.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { execa } from "execa";
import { inTemporaryDirectory } from "./staging.ts";

/** Types that V8 has and that tsc's libraries lack: the modules use them without an import. */
const ambient = "host/sandbox/webassembly.d.ts";

/**
 * Writes the declarations of the modules, and of those that they import, into `outDir`, with the repository's folders. Rejects with
 * the messages of tsc. Imports get the extension `.js`: an author's compiler has no `allowImportingTsExtensions`.
 */
export function writeTypes(root: string, modules: readonly string[], outDir: string): Promise<void> {
  return inTemporaryDirectory("types", async (emitted) => {
    const options = ["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--rootDir", root, "--outDir", emitted];
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--resolveJsonModule"];
    const modern = ["--target", "es2024", "--lib", "es2025,esnext", "--module", "nodenext", "--types", "node"];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const files = [...modules, join(root, ambient)];
    await execa(process.execPath, [tsc, ...options, ...strict, ...modern, "--allowImportingTsExtensions", ...files], {
      cwd: root,
    });
    const wanted = modules.map((module) => join(emitted, relative(root, module).replace(/\.ts$/, ".d.ts")));
    // `wanted` grows while it is read: tsc also emits modules that only the code imports.
    for (const file of wanted) {
      const text = readFileSync(file, "utf8");
      const to = join(outDir, relative(emitted, file));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(
        to,
        text.replaceAll(imported, (path) => path.replace(/\.ts$/, ".js")),
      );
      for (const [path] of text.matchAll(imported)) {
        const next = resolve(dirname(file), path.replace(/\.ts$/, ".d.ts"));
        if (!wanted.includes(next)) wanted.push(next);
      }
    }
  });
}

/** The paths of relative imports in a declaration file. */
const imported = /(?<=(?:from |import\()")\.{1,2}\/[^"]*\.ts(?=")/g;
