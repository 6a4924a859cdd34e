// Lines and columns in a JSON text.

import { findMistake } from "./mistake.ts";
import { scan } from "./scan.ts";

/** A place in a text. Lines and columns count from 1; columns are UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Keys and indices from the root to a value. */
export type JsonPath = readonly (string | number)[];

/** The place of an offset. */
export function positionAt(text: string, offset: number): Position {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

/** The offset of the value at `path`; undefined if there is none. The text must be JSON. */
export function offsetOfPath(text: string, path: JsonPath): number | undefined {
  let start = 0;
  let end = text.length;
  for (const step of path) {
    const { spans, open } = scan(text.slice(start, end), Number.MAX_SAFE_INTEGER);
    const isArray = open > 0 && text.slice(start, end).trimStart().startsWith("[");
    const found =
      typeof step === "number" ? (isArray ? spans[step] : undefined) : spans.find(({ key }) => !isArray && key === step);
    if (found === undefined) return undefined;
    end = start + found.valueEnd;
    start += found.valueStart;
  }
  return start;
}

/** The offset of the value at the longest part of `path` that the text has. */
export function nearestOffset(text: string, path: JsonPath): number {
  for (let length = path.length; length > 0; length--) {
    const offset = offsetOfPath(text, path.slice(0, length));
    if (offset !== undefined) return offset;
  }
  return 0;
}

/** The offset of the first mistake as JSON, or of the first repeated key; undefined if there is neither. */
export function offsetOfMistake(text: string): number | undefined {
  return findMistake(text)?.offset ?? scan(text, Number.MAX_SAFE_INTEGER).duplicate?.offset;
}
