// Draws the comparison of docs/reference/performance.md as bars (`npm run docs`): the length of a bar is the share of thick Multus' figure.

import { readFileSync, writeFileSync } from "node:fs";
import { comparedQuantities, contenders, imageSizes } from "./performance-comparison.ts";
import { benchmarkPath } from "./performance-page.ts";
import { type FailedRow, hasFailed, type Row } from "./performance-target.ts";

/** The picture's path from the repository's root. */
export const performancePicturePath = "docs/pictures/performance.svg";

const colours = ["#8b949e", "#1f6feb", "#2da44e", "#bf8700", "#cf5b4b"];
const [labelWidth, chartWidth, barHeight, gap, top] = [250, 460, 11, 16, 66];
/** The share at the right end of the chart. A longer bar is cut, and its figure says so. */
const maxShare = 4;

/** The picture's SVG. */
export function performancePicture(): string {
  const all: readonly (Row | FailedRow)[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  const quantities = comparedQuantities(
    all.filter((row): row is Row => !hasFailed(row)),
    imageSizes(),
  );
  const x = (share: number): number => labelWidth + (Math.min(share, maxShare) / maxShare) * chartWidth;
  let y = top;
  const bars = quantities.map(({ what, unit, lessIsBetter, figures }) => {
    const shown = contenders.flatMap((name, index) => {
      const figure = figures.get(name);
      return figure === undefined ? [] : [{ ...figure, colour: colours[index] ?? "#000000" }];
    });
    const begin = y;
    y += shown.length * (barHeight + 2) + gap;
    const middle = begin + (shown.length * (barHeight + 2)) / 2;
    const label = [
      `<text x="${labelWidth - 10}" y="${middle}" text-anchor="end">${what}</text>`,
      `<text x="${labelWidth - 10}" y="${middle + 14}" text-anchor="end" fill="#6e7781" font-size="11">${unit}, ${lessIsBetter ? "less" : "more"} is better</text>`,
    ];
    const rectangles = shown.flatMap(({ value, share, colour }, index) => {
      const barY = begin + index * (barHeight + 2);
      const width = (x(share) - labelWidth).toFixed(1);
      const text = `${Number(value.toPrecision(3))} ${unit}`;
      return [
        `<rect x="${labelWidth}" y="${barY}" width="${width}" height="${barHeight}" fill="${colour}"/>`,
        `<text x="${(x(share) + 5).toFixed(1)}" y="${barY + barHeight - 2}" font-size="10">${text}</text>`,
      ];
    });
    return [...label, ...rectangles].join("\n");
  });
  const legend = contenders.map((name, index) => {
    const at = 20 + index * 155;
    return `<rect x="${at}" y="14" width="12" height="12" fill="${colours[index]}"/><text x="${at + 18}" y="24" font-size="12">${name}</text>`;
  });
  const line = `<line x1="${x(1)}" y1="${top - 12}" x2="${x(1)}" y2="${y - gap}" stroke="#bf8700" stroke-dasharray="3 3"/>`;
  const width = labelWidth + chartWidth + 90;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" font-family="ui-sans-serif,system-ui,sans-serif" font-size="13" fill="#1f2328">
<rect width="${width}" height="${y}" fill="#ffffff"/>
${legend.join("\n")}
<text x="${x(1)}" y="${top - 18}" text-anchor="middle" font-size="11" fill="#6e7781">Multus thick = 1</text>
${line}
${bars.join("\n")}
</svg>
`;
}

if (import.meta.main) writeFileSync(performancePicturePath, performancePicture());
