// docs/architecture.md against the tree, and links and commands of the pages that are not in docs/.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { scaffold } from "../../delegates/sdk/build/scaffold.ts";
import { root } from "../lab/compiled.ts";
import { missing } from "../lab/requires.ts";

const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
const files = (listed.stdout ?? "").split("\n").filter((file) => file !== "" && existsSync(join(root, file)));

/** Folders of the tree, as many levels deep as docs/architecture.md names them. */
function folders(): readonly string[] {
  const levels: Readonly<Record<string, number>> = { src: 2, host: 2, test: 2 };
  const all = files.map((file) => {
    const parts = dirname(file).split("/");
    return parts.slice(0, levels[parts[0] ?? ""] ?? 1).join("/");
  });
  return [...new Set(all)].filter((folder) => folder !== "." && !folder.startsWith(".")).toSorted();
}

/** Paths in backticks. `folder` is the folder of the table's row, to which the paths in the row may be relative. */
interface NamedPath {
  readonly folder: string;
  readonly path: string;
}

function namedPaths(page: string): readonly NamedPath[] {
  return page.split("\n").flatMap((line) => {
    const folder = /^\| `([^`]+\/)` \|/.exec(line)?.[1] ?? "";
    const paths = [...line.matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:ts|c|md)))`/g)].map(([, path]) => path ?? "");
    return paths.map((path) => ({ folder, path }));
  });
}

/** The names of the scripts of a package.json. */
function scriptsOf(text: string): readonly string[] {
  return Object.keys((JSON.parse(text) as { scripts: Record<string, string> }).scripts);
}

describe.skipIf(missing("pages against the tree", () => (files.length > 0 ? undefined : "this is no git work tree")))(
  "the tree",
  () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

    test("docs/architecture.md has each folder", () => {
      const named = namedPaths(page).flatMap(({ folder, path }) => [path, folder + path]);
      const unnamed = folders().filter((folder) => !named.some((path) => path.startsWith(`${folder}/`)));
      expect(unnamed).toEqual([]);
    });

    test("each path in docs/architecture.md is there", () => {
      const placeholders = ["delegates/NAME/", "vectors/", "name.test.ts"];
      // Text may name a file or a folder without its path.
      const ends = new Set(files.flatMap((file) => [file, ...parents(file)].map((path) => path.split("/").at(-1) ?? "")));
      const gone = namedPaths(page)
        .filter(({ path }) => !placeholders.includes(path))
        .filter(({ folder, path }) => ![path, folder + path].some((each) => existsSync(join(root, each))))
        .filter(({ path }) => path.replace(/\/$/, "").includes("/") || !ends.has(path.replace(/\/$/, "")));
      expect(gone.filter(({ path }) => path !== "streams/")).toEqual([]);
      expect(namedPaths(page).length).toBeGreaterThan(80);
    });

    test("links of README.md and of the modules' own pages lead somewhere", () => {
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

    test("the anchors of links are headings of their pages", () => {
      const pages = files.filter((file) => file.endsWith(".md"));
      const links = pages.flatMap((file) =>
        [...readFileSync(join(root, file), "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(
          ([, target = "", anchor = ""]) => ({ file, to: target === "" ? file : join(dirname(file), target), anchor }),
        ),
      );
      const gone = links.filter(({ to, anchor }) => to.endsWith(".md") && !anchorsOf(to).has(anchor));
      expect(gone).toEqual([]);
      expect(links.length).toBeGreaterThan(100);
    });

    test("each npm script that a page names is in package.json", () => {
      const project = scriptsOf(readFileSync(join(root, "package.json"), "utf8"));
      // The kit's page is about the repository that the kit makes.
      const home = { kind: "repository", sdk: "0.1.0" } as const;
      const author = scriptsOf(scaffold({ name: "greeter", capabilities: [], home }).get("package.json") ?? "");
      const scripts = (file: string): readonly string[] =>
        file === "delegates/sdk/README.md" ? [...project, ...author] : project;
      const named = files
        .filter((file) => file.endsWith(".md"))
        .flatMap((file) =>
          [...readFileSync(join(root, file), "utf8").matchAll(/\bnpm run (?:--silent )?(\w[\w-]*(?::\w+)?)/g)].map(
            ([, name]) => ({
              file,
              name: name ?? "",
            }),
          ),
        );
      expect(named.filter(({ file, name }) => !scripts(file).includes(name))).toEqual([]);
      expect(named.length).toBeGreaterThan(10);
    });
  },
);

/** The anchors that GitHub gives to a page's headings, and those that the page itself has. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```/gms, "");
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.matchAll(/^#{1,6} (.*)$/gm)) {
    const shown = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase();
    const anchor = shown.replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
    const repeated = [...anchors].filter((each) => each === anchor || each.replace(/-\d+$/u, "") === anchor).length;
    anchors.add(repeated === 0 ? anchor : `${anchor}-${repeated}`);
  }
  return anchors;
}

function parents(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...parents(folder)];
}
