// The layers of docs/architecture.md, held for each import of src/, host/ and features/. Unit tests may import what their own module's layer may.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { missing } from "../lab/requires.ts";
import {
  featureViolations,
  folderCircles,
  importCircles,
  layers,
  moduleCircles,
  layerOf,
  moduleOf,
  reachable,
  readImportGraph,
  upwardImports,
  withImport,
} from "./import-graph.ts";

const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src", "host", "features", "wit"], {
  cwd: root,
  encoding: "utf8",
});
const files = (listed.stdout ?? "")
  .split("\n")
  .filter((file) => /(?<!\.test)\.(?:m?ts|tsx)$/.test(file) && !file.includes("/testing/") && existsSync(join(root, file)));

describe.skipIf(missing("the layers", () => (files.length > 0 ? undefined : "this is no git work tree")))("the layers", () => {
  const graph = readImportGraph(root, files);

  test("no import points up a layer or out of the layers, type-only imports included", () => {
    expect(upwardImports(graph)).toEqual([]);
  });

  test("the files have no circle of imports, type-only imports included", () => {
    expect(importCircles(graph)).toEqual([]);
  });

  test("the modules of host/ have no circle of imports", () => {
    expect(moduleCircles(graph)).toEqual([]);
  });

  test("the folders inside of a module have no circle of imports, but for those that are listed", () => {
    const circles = folderCircles(graph).map((folders) => folders.map((folder) => folder.split("/")[1]));
    // capabilities: a step names the pool and the dry run that its capabilities read. controller: a part of the controller counts its own work.
    const known = ["capabilities", "controller"];
    expect(circles.filter(([module]) => !known.includes(module ?? ""))).toEqual([]);
  });

  // oxlint has no rule for `new Date()`; `.oxlintrc.json` refuses the other clocks. Sandbox processes and the browser's page use none of the engine's.
  test("the time of day comes from a clock that is handed in", () => {
    const exempt = /^(host\/system\/clock\.ts|host\/programs\/plexusctl\/ui\/page\/.*)$/;
    const others = files.filter((file) => !exempt.test(file));
    expect(others.filter((file) => readFileSync(join(root, file), "utf8").includes("new Date()"))).toEqual([]);
  });

  test("of all programs only plexusctl can run a credential plugin of a kubeconfig", () => {
    const plugin = "host/programs/plexusctl/cluster-access/run-credential-plugin.ts";
    const programs = files.filter((file) => /^host\/programs\/[^/]+\/main\.ts$/.test(file));
    expect(programs.length).toBeGreaterThan(3);
    expect(programs.filter((file) => reachable(graph, file).has(plugin))).toEqual(["host/programs/plexusctl/main.ts"]);
  });

  test("programs know the list of features only, features know each other by descriptions only, and rules are pure", () => {
    expect(featureViolations(graph)).toEqual([]);
    for (const edge of [
      { from: "host/engine/plan/plan-call.ts", to: "features/list.ts" },
      { from: "host/programs/plexusd/daemon.ts", to: "features/resource-claims/node.ts" },
      { from: "features/other/node.ts", to: "features/resource-claims/node.ts" },
      { from: "features/other/node.ts", to: "features/list.ts" },
      { from: "features/resource-claims/rules/reading.ts", to: "features/resource-claims/node.ts" },
      { from: "features/resource-claims/rules/reading.ts", to: "host/system/system-error.ts" },
    ]) {
      const changed = withImport(graph, edge);
      expect([...upwardImports(changed), ...featureViolations(changed)], `${edge.from} → ${edge.to}`).toContainEqual(edge);
    }
  });

  test("each folder of host/ has a layer, and there are at most 12", () => {
    const folders = [...new Set(files.filter((file) => file.startsWith("host/")).map(moduleOf))];
    expect(folders.filter((folder) => layerOf(`${folder}/`) === -1)).toEqual([]);
    expect(folders.length).toBeLessThanOrEqual(12);
  });

  test("docs/architecture.md names the layers in this order", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const section = page.slice(page.indexOf("\n## Layers\n"), page.indexOf("\n## One ADD"));
    const rows = [...section.matchAll(/^\| \d+ \| (.+?) \|/gm)].map(([, modules]) =>
      [...(modules ?? "").matchAll(/`([^`]+)\/`/g)].map(([, module]) => module),
    );
    expect(rows).toEqual(layers);
  });

  // Each import that is there, turned around, must be found. A type-only import is an import as any other.
  test("one import turned around is found", () => {
    const between = [...graph].flatMap(([from, imports]) => imports.map((to) => ({ from, to })));
    expect(between.length).toBeGreaterThan(1000);
    for (const { from, to } of between) {
      const turned = withImport(graph, { from: to, to: from });
      expect(importCircles(turned), `${to} → ${from}`).not.toEqual([]);
    }
  });

  test("an import that points up is found without any circle", () => {
    const edge = { from: "host/system/system-error.ts", to: "host/programs/plexusd/main.ts" };
    expect(upwardImports(withImport(graph, edge))).toEqual([edge]);
  });

  test("an import of a test's helper by the product is found", () => {
    const edge = { from: "src/fault/fault.ts", to: "test/lab/compiled.ts" };
    expect(upwardImports(withImport(graph, edge))).toEqual([edge]);
  });
});
