// Draws the demo's output as a terminal for README.md: `npm run demo -- --mixed --picture docs/pictures/demo.svg`.

import { stripVTControlCharacters } from "node:util";

const columns = 100;
const lineHeight = 17;
const charWidth = 7.7;
const padding = 14;
const titleBar = 30;

const colours = { text: "#c9d1d9", dim: "#8b949e", good: "#3fb950", wasm: "#d2a8ff", heading: "#ffffff" } as const;

/** An SVG of a command and its output. Lines of more than 100 characters are cut. */
export function terminalPicture(command: string, text: string): string {
  const lines = [`$ ${command}`, ...stripVTControlCharacters(text).trimEnd().split("\n")].map((line) =>
    line.length > columns ? `${line.slice(0, columns - 1)}…` : line,
  );
  const width = Math.ceil(columns * charWidth + 2 * padding);
  const height = titleBar + lines.length * lineHeight + padding;
  const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
    (colour, index) => `<circle cx="${padding + 6 + index * 18}" cy="15" r="5.5" fill="${colour}"/>`,
  );
  const rows = lines.map((line, index) => {
    const y = titleBar + (index + 1) * lineHeight - 4;
    return `<text x="${padding}" y="${y}" fill="${colourOf(line, index)}" xml:space="preserve">${escaped(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ` font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="12.8">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    ...rows,
    "</svg>\n",
  ].join("\n");
}

function colourOf(line: string, index: number): string {
  if (index === 0 || /^\S/.test(line)) return colours.heading;
  if (line.includes("✓") || line.includes("plexusd, warm")) return colours.good;
  if (/ WASM +[\d.]+$/.test(line)) return colours.wasm;
  return line.startsWith("      {") ? colours.dim : colours.text;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
