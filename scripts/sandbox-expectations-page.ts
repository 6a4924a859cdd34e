// Generates docs/reference/sandbox-expectations.md from the expectations and the tests' titles (`npm run docs`). A test checks that the page is
// current.

import { writeFileSync } from "node:fs";
import { heldRows, testsByRow } from "./checklist/checklist.ts";
import { expectations, openExpectations } from "./checklist/expectations.ts";
import { tableLine } from "./conformance-page.ts";

/** The page's path from the repository's root. */
export const expectationsPagePath = "docs/reference/sandbox-expectations.md";

/** The page's text. `tests`: the tests of each row. */
export function expectationsPage(tests: ReadonlyMap<string, readonly string[]> = testsByRow()): string {
  const rows = heldRows(expectations, openExpectations, tests);
  const tables = expectations.map(({ title, rows: sectionRows }) => {
    const lines = rows.filter(({ id }) => sectionRows.some((row) => row.id === id)).map(tableLine);
    return `## ${title}\n\n| row | expectation | tests |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `# Expectations on the sandbox

E-rows: what users of other hosts for WebAssembly plugins expect (Kubewarden, NRI, Envoy, Helm 4, wasmCloud, Zed, Shopify Functions, Fastly). X-rows: what none of
these hosts has. A test belongs to a row if the test's name begins with the row's number. The third column has the files of these tests, or the reason why there is none.

${rows.filter((each) => each.tests.length > 0).length} of ${rows.length} rows have a test.

${tables.join("\n")}`;
}

if (import.meta.main) writeFileSync(expectationsPagePath, expectationsPage());
