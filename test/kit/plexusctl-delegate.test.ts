// `plexusctl delegate` of the build, without the kit and with it.

import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot } from "../../host/store/files/path-owners.ts";
import { root } from "../lab/compiled.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

/** The exit status of `plexusctl delegate build` in a directory, whether it was refused for root, and whether the kit was executed. */
function buildIn(cwd: string, ...args: readonly string[]): readonly unknown[] {
  const command = ["--disable-warning=ExperimentalWarning", join(dist, "plexusctl.cjs"), "delegate", "build", ...args];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd, encoding: "utf8" });
  return [status, stderr.includes("as root would execute code that another user can change"), existsSync(join(cwd, "executed"))];
}

describe.skipIf(missing("plexusctl delegate", () => missingBuild({ components: ["status-shaper"] })))(
  "plexusctl delegate",
  () => {
    let directory: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), "plexusctl-delegate-"));
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    const component = join(dist, "delegates", "status-shaper.wasm");
    function run(program: string, args: readonly string[], input = "") {
      const command = ["--disable-warning=ExperimentalWarning", program, ...args];
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: directory, encoding: "utf8", input });
      return { status, stdout, stderr };
    }
    const control = (args: readonly string[], input?: string) => run(join(dist, "plexusctl.cjs"), ["delegate", ...args], input);
    const kit = (args: readonly string[], input?: string) => run(join(root, "delegates/sdk/program/main.ts"), args, input);

    test("E-6: inspect prints what plexus-delegate prints, without the kit", () => {
      const found = control(["inspect", component, "-o", "json"]);
      expect(found).toEqual(kit(["inspect", component, "-o", "json"]));
      expect(found.status).toBe(0);
      expect(JSON.parse(found.stdout)).toMatchObject({
        kind: "ComponentInspection",
        loads: true,
        delegate: { name: "status-shaper" },
      });
    });

    test("run and annotate work without the kit, with the same answers and exit codes", () => {
      const request = JSON.stringify({ cniVersion: "1.0.0", name: "pods", type: "status-shaper" });
      const ran = control(["run", component, "ADD"], request);
      expect(ran).toEqual(kit(["run", component, "ADD"], request));
      expect(control(["run", component, "ADDD"], request)).toEqual(kit(["run", component, "ADDD"], request));
      const declaration = {
        name: "x",
        abi: "1.0.0",
        version: "1.0.0",
        about: "a",
        cniVersions: ["1.0.0"],
        capabilities: { lgo: "typo" },
      };
      writeFileSync(join(directory, "delegate.json"), JSON.stringify(declaration));
      const annotated = control(["annotate", component, "-o", "out.wasm"]);
      expect(annotated).toMatchObject({ status: 1, stderr: expect.stringContaining('"lgo" unknown') });
    });

    test("a command that needs the kit says in one line how to get it, with status 3", () => {
      const { status, stdout, stderr } = control(["build", "."]);
      expect([status, stdout]).toEqual([3, ""]);
      expect(stderr).toMatch(/^plexusctl: delegate build needs the kit, .*npm install --save-dev @plexus-cni\/sdk.*\n$/);
    });

    test.skipIf(!isRoot())("FI-07: as root, a kit or a delegate that another user can change is not executed", () => {
      const project = join(directory, "project");
      const installed = join(project, "node_modules/@plexus-cni/sdk");
      mkdirSync(installed, { recursive: true });
      writeFileSync(join(installed, "package.json"), JSON.stringify({ bin: { "plexus-delegate": "program.cjs" } }));
      writeFileSync(join(installed, "program.cjs"), "require('node:fs').writeFileSync('executed', '');");
      const below = join(project, "below");
      mkdirSync(below);
      expect(buildIn(below)).toEqual([0, false, true]);
      rmSync(join(below, "executed"));
      for (const theirs of [join(installed, "program.cjs"), join(project, "node_modules"), project, below]) {
        chownSync(theirs, 12_345, 12_345);
        expect([theirs, buildIn(below)]).toEqual([theirs, [1, true, false]]);
        chownSync(theirs, 0, 0);
      }
      const delegate = join(directory, "theirs");
      mkdirSync(delegate);
      chownSync(delegate, 12_345, 12_345);
      expect(buildIn(below, delegate)).toEqual([1, true, false]);
    });

    test("an installed kit gets the command with its arguments, and its exit code is that of plexusctl", () => {
      const installed = join(directory, "node_modules/@plexus-cni/sdk");
      mkdirSync(installed, { recursive: true });
      writeFileSync(join(installed, "package.json"), JSON.stringify({ bin: { "plexus-delegate": "program.cjs" } }));
      writeFileSync(join(installed, "program.cjs"), "console.log(process.argv.slice(2).join()); process.exitCode = 3;");
      expect(control(["test", ".", "--help"])).toEqual({ status: 3, stdout: "test,.,--help\n", stderr: "" });
    });
  },
);
