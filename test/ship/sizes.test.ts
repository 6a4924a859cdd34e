// Sizes of the build's files, which README.md names.

import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const unbuilt = missing("sizes of the build", () => missingBuild({ components: ["ipam-host-local"] }));

test.skipIf(unbuilt)("the component of ipam-host-local is smaller than 64 KiB, the shim is smaller than 1 MiB", () => {
  expect(statSync(join(dist, "delegates/ipam-host-local.wasm")).size).toBeLessThan(64 * 1024);
  expect(statSync(join(dist, "plexus")).size).toBeLessThan(1024 * 1024);
});
