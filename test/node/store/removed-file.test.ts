// The removal of files that are not there.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFile } from "../../../host/store/files/durable-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-removed-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.each([255, 256])("a file with a name of %d bytes, which is not there, counts as removed", (length) => {
  expect(removeFile(join(directory, "n".repeat(length)))).toEqual({ ok: true, value: undefined });
});
