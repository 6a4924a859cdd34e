// docs/rooms.md against the tree, and the links of the pages that are not in docs/.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../harness/compiled.ts";
import { missing } from "../harness/requires.ts";

const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
const files = (listed.stdout ?? "").split("\n").filter((file) => file !== "" && existsSync(join(root, file)));

/** Directories of the tree, as many levels deep as rooms.md names them. */
function rooms(): readonly string[] {
  const levels: Readonly<Record<string, number>> = { src: 2, host: 2, test: 2 };
  const all = files.map((file) => {
    const parts = dirname(file).split("/");
    return parts.slice(0, levels[parts[0] ?? ""] ?? 1).join("/");
  });
  return [...new Set(all)].filter((room) => room !== "." && !room.startsWith(".")).toSorted();
}

describe.skipIf(missing("pages against the tree", () => (files.length > 0 ? undefined : "this is no git work tree")))(
  "the tree",
  () => {
    const page = readFileSync(join(root, "docs/rooms.md"), "utf8");

    test("each room is named in rooms.md", () => {
      const unnamed = rooms().filter((room) => {
        const [top = "", name] = room.split("/");
        const inTable = page.includes(`| \`${top}/`);
        // Those of test/ stand in one row without their parent's name.
        return !(
          inTable &&
          (name === undefined || page.includes(`\`${room}/\``) || (top === "test" && page.includes(`\`${name}/\``)))
        );
      });
      expect(unnamed).toEqual([]);
    });

    test("each room that rooms.md names is there", () => {
      const named = [...page.matchAll(/`((?:\w[\w-]*\/)+)(?:[\w.-]+\.\w+)?`/g)].map(([, path]) => path ?? "");
      const gone = named.filter(
        (path) => path !== "delegates/NAME/" && !["", "test/"].some((top) => existsSync(join(root, top, path))),
      );
      expect(gone.filter((path) => path !== "vectors/")).toEqual([]);
      expect(named.length).toBeGreaterThan(20);
    });

    test("links of README.md and of the rooms' own pages lead somewhere", () => {
      const pages = files.filter((file) => file.endsWith(".md") && !file.startsWith("docs/"));
      const broken = pages.flatMap((file) =>
        [...readFileSync(join(root, file), "utf8").matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
          .map(([, target]) => target ?? "")
          .filter((target) => !existsSync(join(root, dirname(file), target)))
          .map((target) => `${file}: ${target}`),
      );
      expect(pages).toContain("README.md");
      expect(broken).toEqual([]);
    });
  },
);
