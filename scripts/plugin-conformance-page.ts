// Generates docs/reference/plugin-conformance.md from the kit's catalogue and the committed outcomes of `node scripts/plugin-conformance.ts`
// (`npm run docs`). Tests check that the page is current, and that the reference plugins still have these outcomes.

import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { catalogue } from "../delegates/sdk/conformance/catalogue.ts";
import { sectionUrl, sections } from "../delegates/sdk/conformance/sections.ts";

/** Paths from the repository's root. */
export const pluginConformancePagePath = "docs/reference/plugin-conformance.md";
export const pluginOutcomesPath = "docs/reference/plugin-conformance.json";

/** Outcomes as `--print` writes them. */
export const pluginOutcomeList = z.array(
  z.strictObject({
    type: z.string(),
    subject: z.enum(["component", "native"]),
    /** SHA-256 of a native plugin's file, in hexadecimal. */
    digest: z.string().optional(),
    passed: z.number(),
    skipped: z.number(),
    /** Reasons by the check's ID. */
    failed: z.record(z.string(), z.string()),
    /** The reason why the plugin could not attach a pod here. */
    unsupported: z.string().optional(),
    /** The kernel of an emulated machine on which the plugin was measured; undefined: that of all others. */
    kernel: z.string().optional(),
  }),
);

const outcomes = z.strictObject({
  /** The release of the reference plugins, and the kernel. */
  measured: z.string(),
  plugins: pluginOutcomeList,
  /** Remarks by the type of a plugin. */
  remarks: z.record(z.string(), z.string()).default({}),
});

/** The content of the committed file. */
export type PluginOutcomes = z.infer<typeof outcomes>;

/** Reads the committed outcomes. */
export function pluginOutcomes(): PluginOutcomes {
  return outcomes.parse(JSON.parse(readFileSync(pluginOutcomesPath, "utf8")));
}

/** The page's text. */
export function pluginConformancePage(): string {
  const { measured, plugins, remarks } = pluginOutcomes();
  const supported = plugins.filter(({ unsupported }) => unsupported === undefined);
  const rows = supported.map(({ type, subject, passed, skipped, failed }) => {
    const broken = Object.keys(failed).map(link).join(", ");
    return `| ${type} | ${subject === "native" ? "reference plugin" : "Plexus' delegate"} | ${passed} | ${skipped} | ${broken || "none"} |`;
  });
  const findings = catalogue.flatMap(({ id, title }) =>
    supported
      .filter(({ failed }) => failed[id] !== undefined)
      .map(({ type, failed }, index) => `| ${index === 0 ? `${id} ${title}` : ""} | ${type} | ${cell(failed[id] ?? "")} |`),
  );
  const checks = catalogue.map(
    ({ id, title, section, kinds, roles, since }) =>
      `| <a id="${id.toLowerCase()}"></a>${id} | ${title} | ${kinds?.join(", ") ?? "all"} | ${roles?.join(", ") ?? "all"} | ${since ?? "all"} | [${sections[section].title}](${sectionUrl(section)}) |`,
  );
  const others = plugins.filter(({ kernel }) => kernel !== undefined);
  const emulated = others.map(({ type }) => `\`${type}\``).join(", ");
  const elsewhere =
    others.length === 0
      ? ""
      : `${emulated} need link types that this kernel lacks: they ran on ${others[0]?.kernel} of Debian in an emulated machine.\n`;
  const remarked = Object.entries(remarks).map(([type, remark]) => `\`${type}\` ${remark}\n`);
  const absent = plugins.filter(({ unsupported }) => unsupported !== undefined).map(({ type }) => `\`${type}\``);
  return `# CNI plugins and the rules of the specification

For: authors of delegates and of CNI plugins, and administrators who choose plugins. The page has the checks of
[\`plexus-delegate conformance\`](../how-to/check-a-plugin.md), and which plugin breaks which rule.

## Outcomes

Measured ${measured}. A check is skipped if it does not apply, for example GC for a plugin that supports CNI 1.0.0.
${absent.length === 0 ? "" : `This kernel lacks the link type of ${absent.join(", ")}.\n`}${elsewhere}${remarked.join("")}
| plugin | | passed | skipped | broken rules |
|---|---|---|---|---|
${rows.join("\n")}

## Findings

Names of chains and namespaces are shortened.

| rule | plugin | what the plugin does |
|---|---|---|
${findings.join("\n")}

## Checks

| ID | rule | plugins | roles | from version | section |
|---|---|---|---|---|---|
${checks.join("\n")}
`;
}

function link(id: string): string {
  return `[${id}](#${id.toLowerCase()})`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}

if (import.meta.main) writeFileSync(pluginConformancePagePath, pluginConformancePage());
