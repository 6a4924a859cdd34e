// Doc comments (`///`) of a WIT text, by path: `interface`, `interface.item`, `interface.item.member`. They become comments of
// the generated code and have no other use, so an approximate parser is enough.

const opens = /^\s*(?:interface|record|variant|enum|flags|resource)\s+%?([a-z][a-z0-9-]*)\s*\{/;
const item = /^\s*%?([a-z][a-z0-9-]*)\s*[:,(]/;
const alias = /^\s*type\s+%?([a-z][a-z0-9-]*)/;

/** Finds the doc comments of one WIT text written one declaration to a line. */
export function docsOf(witSource: string): ReadonlyMap<string, string> {
  const docs = new Map<string, string>();
  const path: string[] = [];
  let pending: string[] = [];
  for (const line of witSource.split("\n")) {
    const comment = /^\s*\/\/\/ ?(.*)$/.exec(line);
    if (comment !== null) {
      pending.push(comment[1] ?? "");
      continue;
    }
    const code = line.replace(/\/\/.*$/, "");
    const opened = opens.exec(code)?.[1];
    const name = opened ?? alias.exec(code)?.[1] ?? item.exec(code)?.[1];
    if (name !== undefined && pending.length > 0) docs.set([...path, name].join("."), pending.join("\n").trim());
    if (code.trim() !== "") pending = [];
    const depth = (code.match(/\{/g)?.length ?? 0) - (code.match(/\}/g)?.length ?? 0);
    if (depth > 0) path.push(opened ?? "");
    else if (depth < 0) path.pop();
  }
  return docs;
}
