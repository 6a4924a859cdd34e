// Columns for people, within a width.

import { inertLine } from "../sandbox/inert-text.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
}

/** Units of a cell, before it is cut to fit. */
const longestCell = 1024;
const gap = "  ";
/** A column is not cut below this. */
const least = 8;

/**
 * Lines of a table, its titles first. Where it is wider than `width` its widest columns are cut, with `…`; `width` Infinity cuts nothing.
 */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  const cells = [columns.map(({ title }) => title), ...rows].map((row) =>
    columns.map((_, index) => inertLine(row[index] ?? "", longestCell)),
  );
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? "").length)));
  const total = (): number => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= least) break;
    widths[widest] = Math.max(least, (widths[widest] ?? 0) - (total() - width), nextWidth(widths, widest));
  }
  return cells.map((row) =>
    row
      .map((cell, index) => {
        const most = widths[index] ?? 0;
        const text = cell.length > most ? `${cell.slice(0, most - 1)}…` : cell;
        return columns[index]?.align === "right" ? text.padStart(most) : text.padEnd(most);
      })
      .join(gap)
      .trimEnd(),
  );
}

/** The widest of the other columns: cut in turns, none loses all. */
function nextWidth(widths: readonly number[], widest: number): number {
  const next = Math.max(0, ...widths.filter((_, index) => index !== widest));
  return Math.min(next, (widths[widest] ?? 0) - 1);
}

/** The text in lines of at most `width`, broken at spaces. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
