// Reads the titles of a test file's tests from its syntax tree: the first argument of `test`, `it` and their `.each` and `.skipIf` forms. For a
// title with a column of a table ("$title", "%s: …") the titles of the table are read.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * The titles of a file. A title with expressions is cut before the first expression. Each test also has a title with the prefix of each
 * surrounding group.
 */
export function testTitles(path: string): readonly string[] {
  const file = SourceFile.read(path);
  const calls = file.nodes.filter((node) => node.type === "CallExpression");
  const groups = calls
    .filter((call) => isMadeOf(call["callee"], ["describe"]))
    .flatMap((call) => {
      const text = titleOf(call);
      return text === undefined ? [] : [{ call, text }];
    });
  return calls
    .filter((call) => isMadeOf(call["callee"], ["test", "it"]))
    .flatMap((call) => {
      const around = groups.filter((group) => isWithin(call, group.call)).map(({ text }) => text);
      return ownTitles(file, call).flatMap((title) => [title, ...around.map((each) => `${each} > ${title}`)]);
    });
}

function ownTitles(file: SourceFile, call: Node): readonly string[] {
  const text = titleOf(call);
  const column = /^(?:%[sj]|\$([a-z]+))/i.exec(text ?? "");
  if (column !== null) return tableTitles(file, call["callee"], column[1]);
  return text === undefined ? [] : [text];
}

function titleOf(call: Node): string | undefined {
  const [title] = nodes(call["arguments"]);
  return title === undefined ? undefined : leadingText(title);
}

function isWithin(inner: Node, outer: Node): boolean {
  return Number(inner["start"]) > Number(outer["start"]) && Number(inner["end"]) <= Number(outer["end"]);
}

/** Whether a callee is one of these functions or a form of it (`.each`, `.skipIf`), except `.skip` and `.todo`. */
function isMadeOf(callee: unknown, functions: readonly string[]): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === "Identifier") return functions.includes(String(callee["name"]));
  if (callee.type === "CallExpression") return isMadeOf(callee["callee"], functions);
  if (callee.type !== "MemberExpression" || !isNode(callee["property"])) return false;
  const property = callee["property"]["name"];
  return property !== "skip" && property !== "todo" && isMadeOf(callee["object"], functions);
}

/** Titles in the table of `.each(table)`: members called `key`, or the first element of each row. */
function tableTitles(file: SourceFile, callee: unknown, key: string | undefined): string[] {
  const titles: string[] = [];
  const visited = new Set<unknown>();
  const visit = (within: SourceFile, root: unknown): void => {
    if (visited.has(root)) return;
    visited.add(root);
    for (const node of descendants(root)) {
      if (node.type === "Identifier") {
        const declared = within.declaration(String(node["name"]));
        if (declared !== undefined) visit(declared.file, declared.node);
      }
      const value = key === undefined ? firstElement(node) : memberValue(node, key);
      const text = value === undefined ? undefined : leadingText(value);
      if (text !== undefined) titles.push(text);
    }
  };
  if (isNode(callee) && callee.type === "CallExpression") visit(file, callee["arguments"]);
  return titles;
}

function firstElement(node: Node): Node | undefined {
  return node.type === "ArrayExpression" ? nodes(node["elements"])[0] : undefined;
}

function memberValue(node: Node, key: string): Node | undefined {
  if (node.type !== "Property" || !isNode(node["key"]) || node["key"]["name"] !== key) return undefined;
  return isNode(node["value"]) ? node["value"] : undefined;
}

function leadingText(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const value = nodes(node["quasis"])[0]?.["value"] as { readonly cooked?: string | null } | undefined;
  return value?.cooked ?? undefined;
}

/** A file's syntax tree and its imports. */
class SourceFile {
  static readonly #known = new Map<string, SourceFile>();
  /** All nodes; a parent precedes its children. */
  readonly nodes: readonly Node[];
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    this.nodes = descendants(parseAst(readFileSync(path, "utf8"), { lang: "ts" }));
  }

  static read(path: string): SourceFile {
    const file = SourceFile.#known.get(path) ?? new SourceFile(path);
    SourceFile.#known.set(path, file);
    return file;
  }

  /** The declaration of a name in the file or in an imported file. */
  declaration(name: string): { readonly file: SourceFile; readonly node: unknown } | undefined {
    for (const node of this.nodes) {
      const id = node["id"];
      const declares = node.type === "VariableDeclarator" || node.type === "FunctionDeclaration";
      if (declares && isNode(id) && id["name"] === name) return { file: this, node: node["init"] ?? node["body"] };
      if (node.type !== "ImportDeclaration" || !isNode(node["source"])) continue;
      if (!nodes(node["specifiers"]).some((each) => isNode(each["local"]) && each["local"]["name"] === name)) continue;
      const path = join(dirname(this.#path), String(node["source"]["value"]));
      return existsSync(path) ? SourceFile.read(path).declaration(name) : undefined;
    }
    return undefined;
  }
}

function descendants(root: unknown): readonly Node[] {
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each);
    } else if (isNode(value)) {
      found.push(value);
      for (const each of Object.values(value)) visit(each);
    }
  };
  visit(root);
  return found;
}

function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
