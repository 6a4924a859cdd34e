// The licences of the packages whose code a bundle contains.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const Manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });

/** The text of THIRD-PARTY.md, from the absolute paths of a bundle's modules; undefined: the bundle has no such package. */
export function thirdPartyText(moduleIds: readonly string[]): string | undefined {
  const folders = moduleIds.flatMap((id) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const sections = [...new Set(folders)].toSorted().map((folder) => {
    const { name, version, license } = Manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
    const text =
      file === undefined || !existsSync(join(folder, file)) ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    return `## ${name} ${version}\n\nLicence: ${license}\n${text}`;
  });
  return sections.length === 0 ? undefined : `# Packages whose code is in dist/\n\n${sections.join("\n")}`;
}
