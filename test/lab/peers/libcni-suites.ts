// libcni's own specifications and the tests of containerd's go-cni, with an installed Plexus between libcni and the plugins of a list:
// libcni_adapter.go and go_cni_adapter_test.go put Plexus there.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";

import { compiledPlugin } from "../compiled.ts";
import { openStage } from "../stage.ts";
import { builtDirectory, goModule, libcniNetns, testProgram } from "./go-modules.ts";
import { runGinkgo, runGoTests, type Specification, type TestRun } from "./specifications.ts";

/** The adapters read the file. The tests' mount namespace has a /run of its own. */
const settingsFile = "/run/plexus-libcni-peer.json";

/** The tests of one module. */
export type LibcniSuite = "libcni" | "go-cni";

/** Runs the tests of a module, in order, and answers their outcomes. The daemon at this socket serves the calls. */
export async function runLibcniSuite(name: LibcniSuite, socket: string): Promise<readonly Specification[]> {
  const stage = openStage({ native: [], components: [] });
  const module = goModule(name);
  const folder = module.folders[0] ?? ".";
  // The programs that the specifications build and the caches that they write.
  const temporary = mkdtempSync(join(tmpdir(), "plexus-peers-"));
  try {
    bindNamespace(stage.pod().path);
    const settings = {
      Shim: join(stage.plexus.cniPath, "plexus"),
      Recorder: compiledPlugin("recorder"),
      Netns: libcniNetns,
      Host: stage.host({ check: "all" }),
    };
    writeFileSync(settingsFile, JSON.stringify(settings));
    const run: TestRun = {
      program: testProgram(module, folder),
      cwd: join(builtDirectory(module), "source", folder),
      env: { PLEXUS_SOCKET: socket, TMPDIR: temporary },
    };
    return await (name === "libcni" ? runGinkgo({ ...run, report: join(temporary, "report.json") }) : runGoTests(run));
  } finally {
    spawnSync("umount", [libcniNetns]);
    stage.dispose();
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Shows a network namespace at the path that the specifications name. */
function bindNamespace(path: string): void {
  writeFileSync(libcniNetns, "");
  const bound = spawnSync("mount", ["--bind", path, libcniNetns], { encoding: "utf8" });
  if (bound.status !== 0) throw new Error(`mount --bind ${path} ${libcniNetns}: ${bound.stderr}`);
}
