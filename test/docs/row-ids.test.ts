// Each ID such as `MO-32` or `ADD-1` in a source, a test or a page resolves to a row that this repository has: of the checklist
// (scripts/checklist/rows/), of the expectations on sandboxes, or of a kit's catalogue of checks.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../delegates/sdk/conformance/catalogue.ts";
import { providerChecks } from "../../features/external-ports/conformance/catalogue.ts";
import { expectations } from "../../scripts/checklist/expectations.ts";
import { sections } from "../../scripts/checklist/rows.ts";
import { root } from "../lab/compiled.ts";
import { textFiles } from "./text-files.ts";

const rows = new Set(
  [...[...sections, ...expectations].flatMap((section) => section.rows), ...catalogue, ...providerChecks].map(({ id }) => id),
);

/** Names of standards that have the same shape. */
const standards =
  /^(?:UTF-(?:8|16|32)|SHA-(?:1|224|256|384|512)|P-(?:256|384|521)|X86-64|SSH-\d|BSD-\d|ISO-\d+|CVE-\d+|RFC-\d+)$/;

/** Files whose IDs are examples, with the reason. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ["test/docs/row-ids.test.ts", "has the examples of this rule"],
  ["test/docs/checklist.test.ts", "has the examples of titles"],
  ["features/external-ports/ctl/check-provider.test.ts", "names a check that does not exist"],
  ["test/kit/conformance-command.test.ts", "names a check that does not exist"],
]);

/** The IDs of a text by line. An ID has up to four capitals, which a digit may follow, or a plugin's name after DE, and up to three digits. */
function idsOf(text: string): readonly { readonly id: string; readonly line: number }[] {
  return text
    .split("\n")
    .flatMap((content, index) =>
      [...content.matchAll(/(?<![\w/.-])(?:[A-Z]{1,4}\d{0,2}|DE(?:-[A-Z]+)+)-\d{1,3}(?![\w-]|\.\d)/g)].map(([id]) => ({
        id,
        line: index + 1,
      })),
    )
    .filter(({ id }) => !standards.test(id));
}

const found = (text: string): readonly string[] => idsOf(text).map(({ id }) => id);

test("each ID in code, tests and pages resolves to a row of this repository", () => {
  const folders = ["src", "host", "features", "delegates", "scripts", "test", "bench", "deploy", "docs", "wit", "*.md"];
  const used = textFiles(folders)
    .filter((file) => !exceptions.has(file) && !file.endsWith(".json"))
    .flatMap((file) => idsOf(readFileSync(join(root, file), "utf8")).map((each) => ({ ...each, file })));
  expect(used.filter(({ id }) => !rows.has(id)).map(({ id, file, line }) => `${file}:${line}: ${id}`)).toEqual([]);
  expect(new Set(used.map(({ id }) => id)).size).toBeGreaterThan(300);
});

describe("the rule", () => {
  // Plain calls, no table: the checklist would take a table's IDs for titles.
  test("finds IDs, and no names of standards or longer words", () => {
    expect(found("(MO-32)")).toEqual(["MO-32"]);
    expect(found("decisions D-1, N11-05 and ADD-1.")).toEqual(["D-1", "N11-05", "ADD-1"]);
    expect(found("PREV-2: a title")).toEqual(["PREV-2"]);
    expect(found("DE-VLAN-01, DE-VRF-03")).toEqual(["DE-VLAN-01", "DE-VRF-03"]);
    expect(found("UTF-8, SHA-256, ECDSA on P-256")).toEqual([]);
    expect(found("KEP-3698, a2-B-1, X-1-2, https://example.com/A-1, plexus-A-1")).toEqual([]);
  });

  test("an ID without a row is found", () => {
    expect(idsOf("// As in MO-99.").filter(({ id }) => !rows.has(id))).toEqual([{ id: "MO-99", line: 1 }]);
  });

  test("each exception has an ID without a row", () => {
    const needless = [...exceptions.keys()].filter((file) =>
      idsOf(readFileSync(join(root, file), "utf8")).every(({ id }) => rows.has(id)),
    );
    expect(needless).toEqual([]);
  });
});
