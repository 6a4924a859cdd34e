// Builds the tests of a peer's Go module with the adapters of this folder. The tests themselves are unchanged but for the rewritings of go-modules.ts.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { adapterFile, builtDirectory, type GoModule, testProgram } from "./go-modules.ts";

/** Builds a module's tests into the cache directory. Answers the reason of a failure, or undefined after a success. */
export function buildModule(module: GoModule): string | undefined {
  const fetched = go(root, ["mod", "download", "-json", `${module.path}@${module.release}`]);
  if (!fetched.ok) return fetched.text;
  const { Dir: downloaded } = JSON.parse(fetched.text) as { readonly Dir: string };
  mkdirSync(testCache, { recursive: true });
  const work = mkdtempSync(join(testCache, "building-"));
  try {
    const source = join(work, "source");
    cpSync(downloaded, source, { recursive: true });
    spawnSync("chmod", ["-R", "u+w", source]);
    for (const folder of module.folders) adapt(module, join(source, folder));
    if (module.uses !== undefined) {
      const replacement = `${module.uses.path}=${join(builtDirectory(module.uses), "source")}`;
      const replaced = go(source, ["mod", "edit", "-replace", replacement]);
      if (!replaced.ok) return replaced.text;
    }
    const out = join(work, "out");
    mkdirSync(out);
    for (const folder of module.folders) {
      const program = join(out, testProgram(module, folder).split("/").at(-1) ?? "");
      const built = go(source, ["test", "-c", "-o", program, `./${folder}`]);
      if (!built.ok) return built.text;
    }
    for (const folder of module.programs) {
      const built = go(source, ["build", "-o", `${out}/`, `./${folder}`]);
      if (!built.ok) return built.text;
    }
    renameSync(source, join(out, "source"));
    rmSync(builtDirectory(module), { recursive: true, force: true });
    renameSync(out, builtDirectory(module));
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Rewrites the files of a package's folder, and adds the adapters. A rewriting without an effect means that the release has other sources. */
function adapt({ adapters, rewritings }: GoModule, folder: string): void {
  for (const { files, from, to } of rewritings) {
    let count = 0;
    for (const name of readdirSync(folder).filter((each) => files.test(each))) {
      const text = readFileSync(join(folder, name), "utf8");
      const changed = text.replaceAll(from, to);
      if (changed !== text) count += 1;
      writeFileSync(join(folder, name), changed);
    }
    if (count === 0) throw new Error(`no file of ${folder} has ${String(from)}`);
  }
  for (const [target, name] of Object.entries(adapters)) copyFileSync(adapterFile(name), join(folder, target));
}

function go(cwd: string, args: readonly string[]): { readonly ok: boolean; readonly text: string } {
  const env = { ...process.env, GOTOOLCHAIN: "local", GOWORK: "off", CGO_ENABLED: "0", GOFLAGS: "-mod=mod" };
  const ended = spawnSync("nice", ["go", ...args], { cwd, env, encoding: "utf8", maxBuffer: 64 << 20, timeout: 900_000 });
  if (ended.status === 0) return { ok: true, text: ended.stdout };
  return { ok: false, text: `go ${args[0] ?? ""}: ${(ended.stderr || ended.stdout || String(ended.error)).trim().slice(-400)}` };
}
