// The size of the components: a node copies, examines and compiles each of them.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dist } from "../lab/plexus.ts";

const maxBytes = 64 * 1024;

test("each component of this repository has at most 64 KiB", () => {
  const directory = join(dist, "delegates");
  const components = readdirSync(directory).filter((name) => name.endsWith(".wasm"));
  expect(components.length).toBeGreaterThan(20);
  const large = components.flatMap((name) => {
    const { size } = statSync(join(directory, name));
    return size > maxBytes ? [`${name}: ${size} bytes`] : [];
  });
  expect(large).toEqual([]);
});
