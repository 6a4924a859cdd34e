import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeMarkedFiles } from "./remove-marked-files.ts";

const list = (more: object): string => JSON.stringify({ name: "plexus", plugins: [{ type: "plexus" }], ...more });

test("MO-26 removes what plexusd wrote, under whatever name, and no file of another program", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-marked-"));
  try {
    writeFileSync(join(directory, "00-plexus.conflist"), list({ writtenBy: "plexusd" }));
    writeFileSync(join(directory, "00-a.conflist"), list({ writtenBy: "plexusd" }));
    writeFileSync(join(directory, "01-own.conflist"), list({}));
    writeFileSync(join(directory, "02-other.conflist"), list({ writtenBy: "another" }));
    writeFileSync(join(directory, "03-broken.conflist"), "{");
    const { removed, problems } = await removeMarkedFiles(directory);
    expect(problems).toEqual([]);
    expect(removed.toSorted()).toEqual(["00-a.conflist", "00-plexus.conflist"].map((name) => join(directory, name)));
    expect(readdirSync(directory).toSorted()).toEqual(["01-own.conflist", "02-other.conflist", "03-broken.conflist"]);
    expect(await removeMarkedFiles(directory)).toEqual({ removed: [], problems: [] });
  } finally {
    rmSync(directory, { recursive: true });
  }
  expect(await removeMarkedFiles(directory)).toEqual({ removed: [], problems: [] });
});
