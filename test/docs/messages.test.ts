// The texts of the sources against the redaction of secrets: a message that names a placeholder such as KEY=VALUE must not lose it.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, test } from "vitest";
import { withoutSecrets } from "../../src/fault/without-secrets.ts";
import { root } from "../lab/compiled.ts";

/** Sources whose texts reach a log or a terminal. */
const sources = ["src/**/*.ts", "host/**/*.ts", "features/**/*.ts"]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .filter((file) => !/\.test\.ts$|\/(?:testing|fixtures|generated|node_modules)\//.test(file));

/** Stands for a value within a template. It is neither a key of a secret nor a secret. */
const inserted = "xyz";

/** The texts of a source: its strings, and its templates with a stand-in for each value. */
function textsOf(source: string): readonly string[] {
  const texts: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (!isRecord(node)) return;
    if (node["type"] === "ImportDeclaration") return;
    if (node["type"] === "Literal" && typeof node["value"] === "string") texts.push(node["value"]);
    if (node["type"] === "TemplateLiteral" && Array.isArray(node["quasis"])) {
      const parts = node["quasis"].map((part: { readonly value: { readonly cooked: string } }) => part.value.cooked);
      texts.push(parts.join(inserted));
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit(parseAst(source, { lang: "ts" }));
  return texts;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe("the texts of messages", () => {
  test("FI-12: none has a part that the redaction of secrets takes for a secret", () => {
    const changed = sources.flatMap((file) =>
      textsOf(readFileSync(join(root, file), "utf8"))
        // Help has several lines and is printed as it is.
        .filter((text) => !text.includes("\n") && withoutSecrets(text) !== text)
        .map((text) => `${file}: ${text} → ${withoutSecrets(text)}`),
    );
    expect(sources.length).toBeGreaterThan(300);
    expect(changed).toEqual([]);
  });
});
