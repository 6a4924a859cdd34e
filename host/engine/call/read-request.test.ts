import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CallWords, readCallWords } from "./call-words.ts";

const path = "/opt/cni/bin";
const base = { cniVersion: "1.1.0", name: "pods", type: "plexus", clusterNetwork: "main" };

function read(verb: "ADD" | "DEL" | "STATUS", more: object, on = path): CallWords {
  const words = readCallWords(verb, on, JSON.stringify({ ...base, ...more }));
  if (!words.ok) throw new Error(words.fault.msg);
  return words.value;
}

test("a text that comes again is read once, for each verb and path by itself", () => {
  const first = read("ADD", {});
  expect(read("ADD", {})).toBe(first);
  expect(read("ADD", { namespaceIsolation: true })).not.toBe(first);
  expect(read("STATUS", {})).not.toBe(first);
  expect(read("ADD", {}, "/usr/lib/cni")).not.toBe(first);
});

test("what the hands may have looked elsewhere for is compared with each call's path", () => {
  const own = { binDir: "/opt/own/bin" };
  expect(read("ADD", own, "/opt/own/bin:/opt/cni/bin").configured.ok).toBe(true);
  expect(read("ADD", own).configured).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
});

test("one pod's own words, and those that name a file, are read each time", () => {
  const withResult = { prevResult: { cniVersion: "1.0.0" } };
  expect(read("DEL", withResult)).not.toBe(read("DEL", withResult));
  const directory = mkdtempSync(join(tmpdir(), "plexus-words-"));
  try {
    const file = join(directory, "plexus.json");
    // In another spelling, too.
    for (const key of ["configFile", "configfile"]) {
      for (const stepTimeoutMs of [1000, 2000]) {
        writeFileSync(file, JSON.stringify({ stepTimeoutMs }));
        const { configured } = read("ADD", { [key]: file });
        expect(configured).toMatchObject({ ok: true, value: { configuration: { stepTimeoutMs } } });
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("texts take the place of one another, and what comes again and again stays", () => {
  const once = read("ADD", { log: { level: "debug" } });
  const often = read("ADD", {});
  for (let number = 0; number < 100; number++) {
    read("ADD", { runtimeConfig: { number } });
    expect(read("ADD", {})).toBe(often);
  }
  expect(read("ADD", { log: { level: "debug" } })).not.toBe(once);
});
