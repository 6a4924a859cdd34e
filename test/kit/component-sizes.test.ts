// The size of the components: a node copies, examines and compiles each of them.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordedSizes } from "../../scripts/plugins-page.ts";
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

test("the recorded size of each component is at most 1 KiB from the built one (npm run docs)", () => {
  const differing = Object.entries(recordedSizes()).flatMap(([name, recorded]) => {
    const built = statSync(join(dist, "delegates", `${name}.wasm`)).size / 1024;
    return Math.abs(Math.ceil(built) - recorded) > 1 ? [`${name}: recorded ${recorded} KiB, built ${built}`] : [];
  });
  expect(differing).toEqual([]);
});
