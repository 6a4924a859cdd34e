import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { leasesOfContainer, removeOrphaned } from "./orphaned-leases.ts";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import { runSync } from "./testing/run-sync.ts";

/** Removes leases under the real lock. */
const remove = (...args: Parameters<typeof removeOrphaned>) => runSync(removeOrphaned(...args), (request) => lockSync(request));

describe("leases without an attachment", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-orphaned-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);

  test("are the files named by an address whose first line is the container", async () => {
    for (const name of ["10.0.0.2", "fd00::2", "lock", "last_reserved_ip.0", "notes"]) write(name, "web\r\neth0");
    write("10.0.0.3", "web-2\r\neth0");
    write("10.0.0.4", "");
    const found = await leasesOfContainer(directory, "web");
    expect(found.map(({ path }) => path).toSorted()).toEqual([join(directory, "10.0.0.2"), join(directory, "fd00::2")]);
    expect(await leasesOfContainer(join(directory, "absent"), "web")).toEqual([]);
  });

  test("a directory with more than 8,192 files is not read to its end", async () => {
    for (let number = 0; number < 8_200; number++) write(`10.1.${number >> 8}.${number & 255}`, "web\r\neth0");
    expect(await leasesOfContainer(directory, "web")).toHaveLength(8_192);
  });

  test("a lease that another container has got meanwhile stays", async () => {
    write("10.0.0.2", "web\r\neth0");
    write("10.0.0.3", "web\r\neth0");
    const found = await leasesOfContainer(directory, "web");
    write("10.0.0.3", "db\r\neth0");
    expect(remove(found, 1000)).toEqual({ ok: true, value: 1 });
    expect(readdirSync(directory)).toContain("10.0.0.3");
    expect(remove([{ path: join(directory, "10.0.0.3"), containerId: "db", writtenAt: 1 }], 1000)).toEqual({
      ok: true,
      value: 0,
    });
  });
});
