// Tables and wrapped text for a terminal.

import { inertLine } from "../../../src/text/inert-text.ts";

export { wrap } from "../../../src/text/wrap.ts";

/** A column of a table; left-aligned by default. */
export interface Column {
  readonly title: string;
  readonly align?: "right";
}

/** Maximum length of a cell before its column is cut, in UTF-16 units. */
const maxCell = 1024;
const gap = "  ";
/** Minimum width of a cut column. */
const minColumn = 8;

/**
 * Lines of a table; the first line has the titles. If the table is wider than `width`, its widest columns are cut and end with `…`.
 */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  const cells = [columns.map(({ title }) => title), ...rows].map((row) =>
    columns.map((_, index) => inertLine(row[index] ?? "", maxCell)),
  );
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? "").length)));
  const total = (): number => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= minColumn) break;
    widths[widest] = Math.max(minColumn, (widths[widest] ?? 0) - (total() - width), nextWidth(widths, widest));
  }
  return cells.map((row) =>
    row
      .map((cell, index) => {
        const columnWidth = widths[index] ?? 0;
        const text = cell.length > columnWidth ? `${cell.slice(0, columnWidth - 1)}…` : cell;
        return columns[index]?.align === "right" ? text.padStart(columnWidth) : text.padEnd(columnWidth);
      })
      .join(gap)
      .trimEnd(),
  );
}

/** The width of the widest other column, at least one less than this column's: the wide columns shrink in turns. */
function nextWidth(widths: readonly number[], widest: number): number {
  const next = Math.max(0, ...widths.filter((_, index) => index !== widest));
  return Math.min(next, (widths[widest] ?? 0) - 1);
}
