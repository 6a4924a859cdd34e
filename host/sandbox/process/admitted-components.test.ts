import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { defaultLimits } from "../limits.ts";
import { AdmittedComponents } from "./admitted-components.ts";

const bytes = Buffer.from("component");
let directory: string;
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "plexus-admitted-")), "admitted");
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true }));

const has = (limits = defaultLimits): boolean => new AdmittedComponents(directory).has("/path:1:2", bytes, limits);

it("FI-13: an admitted component is known by its digest over restarts, for the same limits", async () => {
  expect(has()).toBe(false);
  await new AdmittedComponents(directory).keep("/path:1:2", bytes, defaultLimits, 1);
  expect(has()).toBe(true);
  // Neither the name nor the time limit matters; the limits that decide about a component do.
  expect(new AdmittedComponents(directory).has("/other:3", bytes, { ...defaultLimits, admissionMs: 1 })).toBe(true);
  expect(has({ ...defaultLimits, memoryPages: 17 })).toBe(false);
  expect(new AdmittedComponents(directory).has("/path:1:2", Buffer.from("other"), defaultLimits)).toBe(false);
});

it("FI-13: a record of another version, a link or an unreadable record does not count", async () => {
  await new AdmittedComponents(directory).keep("x", bytes, defaultLimits, 1);
  const [record = ""] = readdirSync(directory);
  const path = join(directory, record);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/"plexus":"[^"]*"/u, '"plexus":"0.0.0"'));
  expect(has()).toBe(false);
  writeFileSync(`${path}-target`, text);
  rmSync(path);
  symlinkSync(`${path}-target`, path);
  expect(has()).toBe(false);
});

it("FI-13: a one-shot engine records only admissions that took long; a directory that cannot be made has no records", async () => {
  await new AdmittedComponents(directory, 0.1).keep("x", bytes, defaultLimits, 299);
  expect(has()).toBe(false);
  await new AdmittedComponents(directory, 0.1).keep("x", bytes, defaultLimits, 300);
  expect(has()).toBe(true);
  await new AdmittedComponents("/proc/nowhere").keep("x", bytes, defaultLimits, 300);
  expect(new AdmittedComponents("/proc/nowhere").has("x", bytes, defaultLimits)).toBe(false);
});
