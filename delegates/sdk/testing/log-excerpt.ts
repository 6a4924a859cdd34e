// A delegate's log for an author's terminal: what is left out is counted.

import { inertLine } from "../../../src/text/inert-text.ts";

/** UTF-16 units of a shown line, and shown lines. */
const maxLine = 2000;
const maxLines = 50;

/** The first lines of a log without control characters. `wholeLog`: how to see the whole log. */
export function logExcerpt(log: readonly string[], wholeLog: string): readonly string[] {
  const shown = log.slice(0, maxLines).map((line) => {
    if (line.length <= maxLine) return inertLine(line, maxLine);
    return `${inertLine(line.slice(0, maxLine), maxLine)}… (the first ${maxLine} of ${line.length} characters; ${wholeLog})`;
  });
  const left = log.length - shown.length;
  return left === 0 ? shown : [...shown, `(${left} more of ${log.length} lines; ${wholeLog})`];
}
