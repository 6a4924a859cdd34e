// The committed pictures are those that their sources give.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { graphs, pictureUrl, svgOf } from "./pictures.ts";

test.each(graphs)("docs/pictures/%s.svg is what its source draws", async (name) => {
  expect(readFileSync(pictureUrl(name), "utf8")).toBe(await svgOf(name));
});
