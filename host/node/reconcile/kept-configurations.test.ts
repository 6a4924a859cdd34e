import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeptConfigurations } from "./kept-configurations.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "plexus-kept-"));
});
afterEach(() => rmSync(state, { recursive: true }));

const nothing = { ok: true, value: undefined };

test("RT-02 stores the runtime's configuration byte for byte, without keys that belong to a pod", () => {
  const kept = new KeptConfigurations(state);
  const configuration = `{ "name": "cluster", "big": 12345678901234567890, "runtimeConfig": {"portMappings": []},
    "args": {"cni": {"secret": 1}}, "prevResult": {}, "cni.dev/valid-attachments": [] }`;
  expect([1, 2].map(() => kept.keep("cluster", configuration))).toEqual([true, false].map((value) => ({ ok: true, value })));
  const text = '{ "name": "cluster", "big": 12345678901234567890 }';
  expect(new KeptConfigurations(state).load("cluster")).toEqual({ ok: true, value: text });
  expect(statSync(join(state, "configurations", "cluster")).mode & 0o777).toBe(0o600);
});

test("RT-02 writes the file only if the configuration changed, and not for each pod", () => {
  const kept = new KeptConfigurations(state);
  kept.keep("cluster", '{"name":"cluster","runtimeConfig":{"a":1}}');
  const path = join(state, "configurations", "cluster");
  const before = statSync(path).ino;
  kept.keep("cluster", '{"name":"cluster","runtimeConfig":{"a":2}}');
  new KeptConfigurations(state).keep("cluster", '{"name":"cluster"}');
  expect(statSync(path).ino).toBe(before);
  kept.keep("cluster", '{"name":"cluster","del":{"tries":3}}');
  expect(readFileSync(path, "utf8")).toBe('{"name":"cluster","del":{"tries":3}}');
  expect(readdirSync(join(state, "configurations"))).toEqual(["cluster"]);
});

test("loads nothing before the first keep, and refuses names with a path, links, and texts other than JSON objects", () => {
  const kept = new KeptConfigurations(state);
  expect(kept.load("cluster")).toEqual(nothing);
  expect(kept.load("../journal/x").ok).toBe(false);
  expect(kept.keep("../x", '{"name":"../x"}').ok).toBe(false);
  expect(kept.keep("cluster", "[]").ok).toBe(false);
  mkdirSync(join(state, "configurations"), { recursive: true });
  writeFileSync(join(state, "elsewhere"), '{"name":"linked"}');
  symlinkSync(join(state, "elsewhere"), join(state, "configurations", "linked"));
  expect(kept.load("linked").ok).toBe(false);
});
