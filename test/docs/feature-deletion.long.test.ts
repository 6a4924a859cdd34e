// An optional feature can be deleted: its folder, and its line in features/list.ts. Everything else still type-checks, and the unit tests pass.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { features } from "../../features/list.ts";
import { root } from "../lab/compiled.ts";
import { missing } from "../lab/requires.ts";
import { TreeCopy } from "./without-feature.ts";

const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
const files = (listed.stdout ?? "").split("\n").filter((file) => file !== "");
const names = features.map(({ name }) => name);
/**
 * Features do not import each other (layers.test.ts), so what type-checks without all of them does without each. A type check takes 7 s of CPU time,
 * so each feature alone is a choice.
 */
const chosen = (): string | undefined =>
  process.env["PLEXUS_TEST_FEATURES"] === "all" ? undefined : "PLEXUS_TEST_FEATURES=all runs it";

/** The pages that say what features have (`npm run docs`). */
const pages = ["metrics-page", "plexusctl-page", "conformance-page", "sandbox-expectations-page"];

describe.skipIf(missing("the deletion of features", () => (files.length > 1 ? undefined : "this is no git work tree")))(
  "without",
  () => {
    let copy: TreeCopy;
    beforeAll(() => {
      copy = new TreeCopy(root, files);
    });
    afterAll(() => copy.dispose());

    // A type check alone takes minutes on a busy machine.
    const timeout = 3_600_000;

    test.skipIf(missing("the deletion of one feature", chosen)).each(names)(
      "%s, everything else type-checks",
      { timeout },
      (name) => {
        const without = new TreeCopy(root, files);
        try {
          without.delete([name]);
          expect(without.typeCheck()).toBe("");
        } finally {
          without.dispose();
        }
      },
    );

    test("any feature, everything else type-checks, and its pages and unit tests are in order", { timeout }, async () => {
      copy.delete(names);
      const controllers = await Promise.all(features.map(({ controller }) => controller?.()));
      const daemon = await Promise.all(features.map(({ metrics }) => metrics?.()));
      const definitions = [...controllers.map((each) => each?.metrics), ...daemon];
      copy.forgetInGuides(definitions.flatMap((each) => Object.keys(each ?? {})));
      expect(readdirSync(join(copy.directory, "features")).filter((name) => !name.includes("."))).toEqual([]);
      expect(copy.typeCheck()).toBe("");
      expect(pages.map((page) => copy.script(`scripts/${page}.ts`))).toEqual(pages.map(() => ""));
      expect(copy.run("vitest", "run", "--project", "unit", "features", "scripts", "host/programs", "host/engine/plan")).toBe("");
    });
  },
);
