// The test files of `npm run test:fast`, which need no privileges, no namespaces and no build.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders whose tests compile C or AssemblyScript, or start sandbox processes for seconds. */
const slowFolders = ["host/shim/", "host/sandbox/", "host/system/v8/"];

/** Names of harness functions. A test that uses one of them needs privileges, a program of the machine, or a build. */
const needsMore =
  /\b(missing\(|missingPrivateNamespaces|privateNamespaces|installPlexus|missingBuild|openStage|startDaemon|compiledPlugin|openLinkTests|startApiServer|buildDelegate|testDelegate|sandboxProcess)|"(cc|mount)"|\bdist\b/u;

/** Paths relative to `root`, sorted. */
export function fastTests(root: string): readonly string[] {
  return globSync("{src,host,scripts}/**/*.test.ts", { cwd: root })
    .filter((path) => !slowFolders.some((folder) => path.startsWith(folder)))
    .filter((path) => path.startsWith("src/") || !needsMore.test(readFileSync(join(root, path), "utf8")))
    .toSorted();
}
