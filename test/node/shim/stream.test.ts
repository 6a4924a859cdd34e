// The shim's stream of frames, compiled alone: the work of sending, as a count.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { LANGUAGE_FLAGS, shimSources } from "../../../host/shim/build.ts";

const check = fileURLToPath(new URL("testing/stream-check.c", import.meta.url));
const sent = 32 << 20;

test("bytes that wait for a slow engine are moved once at most: a large answer takes no more time than its size asks for", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-stream-"));
  try {
    const program = join(directory, "stream-check");
    const [first = ""] = shimSources();
    const sources = ["stream.c", "buffer.c", "frame.c", "loop.c"].map((name) => join(dirname(first), name));
    const flags = [...LANGUAGE_FLAGS, "-fno-builtin", "-Wl,--wrap=memmove", "-iquote", dirname(first)];
    execFileSync("cc", [...flags, "-o", program, check, ...sources]);
    const [moved, wrong, left] = execFileSync(program, { encoding: "utf8", timeout: 120_000 }).split(" ").map(Number);
    expect([wrong, left]).toEqual([0, 0]);
    expect(moved).toBeLessThanOrEqual(sent);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
