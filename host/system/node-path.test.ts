import { execPath } from "node:process";
import { expect, test } from "vitest";
import { nodePath } from "./node-path.ts";

test("is that of this process, without the kernel's mark of a replaced file", () => {
  expect(nodePath()).toBe(execPath);
  expect(nodePath("/opt/plexus/bin/node (deleted)")).toBe("/opt/plexus/bin/node");
});
