// Breaks text into lines for a terminal.

import { inertLine } from "./inert-text.ts";

/**
 * The text in lines of at most `width` columns, broken at spaces. A longer word has a line of its own. The text may quote foreign ones: it gets no
 * escape sequence and no line feed of its own.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of inertLine(text, text.length).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
