// Draws the documentation's pictures from their committed sources (`npm run docs`). A test checks that they are current.

import { readFileSync, writeFileSync } from "node:fs";
import { instance } from "@viz-js/viz";

const folder = new URL("../docs/pictures/", import.meta.url);

/** The pictures that are drawn by Graphviz, by their file names without extension. */
export const graphs = ["architecture"] as const;

/** The SVG of a graph of docs/pictures. */
export async function svgOf(name: (typeof graphs)[number]): Promise<string> {
  const viz = await instance();
  const svg = viz.renderString(readFileSync(new URL(`${name}.dot`, folder), "utf8"), { format: "svg" });
  // Comments are removed, because Graphviz writes its version there, which would change the file with each update.
  return svg.replaceAll(/<!--[\s\S]*?-->\n?/g, "");
}

/** The URL of the graph's SVG file. */
export function pictureUrl(name: (typeof graphs)[number]): URL {
  return new URL(`${name}.svg`, folder);
}

if (import.meta.main) for (const name of graphs) writeFileSync(pictureUrl(name), await svgOf(name));
