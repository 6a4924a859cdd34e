// Where the configurations of NetworkAttachmentDefinitions stand in a manifest: each `spec.config` is a string with JSON inside.

import type { Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { LintSource } from "../../../src/lint/finding.ts";
import { type Position, positionAt } from "../../../src/json/position.ts";
import { indentQuotedScalars } from "../../../src/npwg/quoted-scalars.ts";

/** The `spec.config` of each definition in a manifest, by `namespace/name`, and the place of a definition without one. */
export async function definitionSources(file: string, text: string): Promise<ReadonlyMap<string, LintSource>> {
  const { parseAllDocuments, isMap, isSeq, isScalar } = await import("yaml");
  const sources = new Map<string, LintSource>();
  const visit = (node: unknown): void => {
    if (isSeq(node)) for (const item of (node as YAMLSeq).items) visit(item);
    if (!isMap(node)) return;
    const map: YAMLMap = node;
    if (isSeq(map.get("items", true))) visit(map.get("items", true));
    const [name, config] = [map.getIn(["metadata", "name"]), map.getIn(["spec", "config"], true)];
    const namespace = map.getIn(["metadata", "namespace"]) ?? "default";
    if (typeof name !== "string" || typeof namespace !== "string") return;
    const fallback = positionAt(text, startOf(config ?? map.items[0]?.key));
    const source = isScalar(config) && typeof config.value === "string" ? sourceOf(file, text, config) : undefined;
    sources.set(`${namespace}/${name}`, source ?? { file, text: "", place: () => fallback });
  };
  for (const indented of [text, indentQuotedScalars(text)]) {
    const documents = Array.from(parseAllDocuments(indented, { stringKeys: true }));
    // The repair moves columns, so the places are those of the text as written only without it.
    if (indented === text && documents.some(({ errors }) => errors.length > 0)) continue;
    for (const document of documents) visit(document.contents);
    break;
  }
  return sources;
}

function startOf(node: unknown): number {
  const range: unknown = Reflect.get(Object(node), "range");
  return Array.isArray(range) && typeof range[0] === "number" ? range[0] : 0;
}

function sourceOf(file: string, text: string, scalar: Scalar): LintSource {
  const [from = 0, to = 0] = scalar.range ?? [];
  const raw = text.slice(from, to);
  const value = String(scalar.value);
  const start = positionAt(text, from);
  const place = (offset: number): Position => {
    if (scalar.type === "BLOCK_LITERAL") return placeInBlock(raw, value, offset, start.line);
    if (raw.includes("\n")) return start;
    return { line: start.line, column: start.column + writtenOffset(raw, offset) };
  };
  return { file, text: value, place };
}

/** The text of a block begins on the line after its header, and each line is indented. */
function placeInBlock(raw: string, value: string, offset: number, headerLine: number): Position {
  const inside = positionAt(value, offset);
  const firstLine =
    raw
      .split("\n")
      .slice(1)
      .find((line) => line.trim() !== "") ?? "";
  const indent = firstLine.length - firstLine.trimStart().length - (value.length - value.trimStart().length);
  return { line: headerLine + inside.line, column: Math.max(0, indent) + inside.column };
}

/** The offset in a scalar as it is written: an escape in quotes has several characters for one. */
function writtenOffset(raw: string, offset: number): number {
  const quote = raw[0];
  if (quote !== '"' && quote !== "'") return offset;
  let at = 1;
  for (let read = 0; read < offset && at < raw.length; read++) {
    if (quote === "'") at += raw.startsWith("''", at) ? 2 : 1;
    else if (raw[at] === "\\") at += raw[at + 1] === "u" ? 6 : raw[at + 1] === "x" ? 4 : 2;
    else at += 1;
  }
  return at;
}
