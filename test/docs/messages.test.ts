// The texts of the sources: a message that names a placeholder such as KEY=VALUE must not lose it to the redaction of secrets, and a key of the
// configuration, a command or a page that a message names must exist.

import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { allCommands } from "../../host/programs/plexusctl/commands/all-commands.ts";
import { hostSchema } from "../../src/configuration/keys/host-keys.ts";
import { withoutSecrets } from "../../src/fault/without-secrets.ts";
import { isJsonObject } from "../../src/json/document.ts";
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

/** The texts of all sources, each with its file. */
const allTexts = sources.flatMap((file) => textsOf(readFileSync(join(root, file), "utf8")).map((text) => ({ file, text })));

/** The values of the chart, which texts name as keys of the configuration. */
const chart: unknown = parse(readFileSync(join(root, "deploy/helm/plexus/values.yaml"), "utf8"));

/** The name of a file, such as `policies.ts`. */
const isFileName = /\.(?:ts|js|json|md|sock|yaml|go)$/;

/** The domain of labels, and a member that the CNI convention gives to each plugin: https://github.com/containernetworking/cni/blob/main/CONVENTIONS.md */
const notKeys: ReadonlySet<string> = new Set(["kubernetes.io", "args.cni"]);

/** Words behind `plexusctl` in a sentence about the program. */
const prose = /^(?:and|after|as|asks|cannot|of|on|stand|with|xyz)$/;

/** The schema of a member; undefined: the object has no such key. A name in place of TYPE stands for any. */
function memberOf(schema: unknown, key: string): unknown {
  if (key === inserted) return schema;
  const { properties, additionalProperties, items } = Object(schema);
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  if (isJsonObject(additionalProperties)) return additionalProperties;
  return isJsonObject(items) ? memberOf(items, key) : undefined;
}

/** Whether the chart has a value at this path. */
function isChartValue(path: string): boolean {
  let value: unknown = chart;
  for (const key of path.split(".")) value = isJsonObject(value) ? value[key] : undefined;
  return value !== undefined;
}

describe("the texts of messages", () => {
  test("a key that a text names with its section is a key of the configuration or of the chart", () => {
    const properties: unknown = hostSchema()["properties"];
    if (!isJsonObject(properties)) throw new Error("the schema has no properties");
    const sections = Object.keys(properties).filter((name) => /^[a-z]\w*$/i.test(name) && name !== "type" && name !== "name");
    const named = new RegExp(String.raw`(?<![\w./@-])(${sections.join("|")})((?:\.[A-Za-z]\w*)+)(?![\w/-])`, "g");
    const isKey = (path: string): boolean => {
      let schema: unknown = { properties };
      for (const key of path.split(".")) schema = schema === undefined ? undefined : memberOf(schema, key);
      return schema !== undefined;
    };
    const wrong = allTexts.flatMap(({ file, text }) =>
      [...text.matchAll(named)].flatMap(([path]) =>
        isKey(path) || isChartValue(path) || notKeys.has(path) || isFileName.test(path) ? [] : [`${file}: ${path}`],
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("a command of plexusctl that a text names is one", async () => {
    const names = (await allCommands()).map(({ name }) => name);
    const wrong = allTexts.flatMap(({ file, text }) =>
      [...text.matchAll(/plexusctl ([a-z]+)(?: ([a-z]+))?/g)].flatMap(([whole, first = "", second = ""]) => {
        const isGroup = (prose.test(second) || second === "") && names.some((name) => name.startsWith(`${first} `));
        return prose.test(first) || isGroup || names.some((name) => name === first || name === `${first} ${second}`)
          ? []
          : [`${file}: ${whole}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("a page or file of the project that a text names is there", () => {
    const wrong = allTexts.flatMap(({ file, text }) =>
      [...text.matchAll(/\b(?:docs|deploy)\/[\w./-]*\w/g)].flatMap(([path]) =>
        existsSync(join(root, path)) ? [] : [`${file}: ${path}`],
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("FI-12: none has a part that the redaction of secrets takes for a secret", () => {
    const changed = allTexts
      // Help has several lines and is printed as it is.
      .filter(({ text }) => !text.includes("\n") && withoutSecrets(text) !== text)
      .map(({ file, text }) => `${file}: ${text} → ${withoutSecrets(text)}`);
    expect(sources.length).toBeGreaterThan(300);
    expect(changed).toEqual([]);
  });
});
