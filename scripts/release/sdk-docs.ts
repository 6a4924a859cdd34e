// The pages in the package `@plexus-cni/sdk`: an author has the documentation of the version that is installed, and no other file of the repository.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** The pages, by path in the repository, with their path in the package. */
const pages: ReadonlyMap<string, string> = new Map([
  ["delegates/sdk/README.md", "README.md"],
  ...["how-to/write-a-delegate", "how-to/check-a-plugin", "how-to/port-a-go-plugin"].map(samePath),
  ...["reference/abi", "reference/languages", "reference/plugin-conformance"].map(samePath),
]);

function samePath(page: string): [string, string] {
  return [`docs/${page}.md`, `docs/${page}.md`];
}

/** Writes the pages into the package's directory. `others`: further files of the package, whose path is the same in the repository. */
export function stageDocs(root: string, directory: string, others: readonly string[]): void {
  const targets = new Map([...pages, ...others.map((path): [string, string] => [path, path])]);
  for (const [source, target] of pages) {
    const file = join(directory, target);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, withPackagedLinks(readFileSync(join(root, source), "utf8"), source, targets));
  }
}

/** The text of a page whose links lead to files of the package. A link to another file of the repository becomes its label. */
export function withPackagedLinks(text: string, source: string, targets: ReadonlyMap<string, string>): string {
  const from = posix.dirname(targets.get(source) ?? source);
  return text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/gu,
    (_, label: string, path: string, anchor = "") => {
      const target = targets.get(posix.normalize(posix.join(posix.dirname(source), path)));
      return target === undefined ? label : `[${label}](${posix.relative(from, target)}${anchor})`;
    },
  );
}
