import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { CallConfigurations } from "./call-configurations.ts";
import { KeptConfigurations } from "./kept-configurations.ts";

let state: string;
let warnings: string[];
let calls: CallConfigurations;
beforeEach(() => {
  vi.useFakeTimers();
  state = mkdtempSync(join(tmpdir(), "plexus-calls-"));
  warnings = [];
  const store = new KeptConfigurations(state);
  calls = new CallConfigurations(
    (directory) => (directory === state ? store : undefined),
    (text) => warnings.push(text),
  );
});
afterEach(() => {
  calls.end();
  vi.useRealTimers();
  rmSync(state, { recursive: true });
});

const add = (text: string, verb = "ADD"): HostConfiguration =>
  calls.add(verb, { cniDir: state, name: "cluster" } as HostConfiguration, Buffer.from(text));
const kept = (): unknown => new KeptConfigurations(state).load("cluster");
const text = (value: number, more = ""): string => `{"name":"cluster","del":{"tries":${value}}${more}}`;

test("RT-02 a changed configuration is kept at once, also right after calls with the earlier one", () => {
  for (const more of ["", ',"prevResult":{}', "", ',"prevResult":{"ips":[]}']) add(text(1, more));
  vi.advanceTimersByTime(15_000);
  for (const more of ["", ',"prevResult":{}']) add(text(1, more));
  add(text(2));
  expect(kept()).toEqual({ ok: true, value: text(2) });
});

test("RT-02 two configurations of one name that alternate are written once in 10 s at most, the last one in the end", () => {
  for (let round = 0; round < 50; round++) for (const value of [1, 2, 3]) add(text(value));
  const path = join(state, "configurations", "cluster");
  const first = statSync(path).ino;
  expect(kept()).toEqual({ ok: true, value: text(1) });
  vi.advanceTimersByTime(10_000);
  expect(kept()).toEqual({ ok: true, value: text(3) });
  expect(statSync(path).ino).not.toBe(first);
  add(text(2));
  calls.end();
  expect(kept()).toEqual({ ok: true, value: text(2) });
});

test.each(["CHECK", "DEL"])("RT-02 the configuration of a %s replaces no other: CRI-O sends that of the ADD", (verb) => {
  const now = add(text(2, ',"a":1'));
  expect(add(text(1), verb)).toBe(now);
  vi.advanceTimersByTime(15_000);
  expect(kept()).toEqual({ ok: true, value: text(2, ',"a":1') });
  // A daemon that has just started knows the kept one alone.
  const store = new KeptConfigurations(state);
  const later = new CallConfigurations(
    () => store,
    () => undefined,
  );
  const answered = later.add(verb, { cniDir: state, name: "cluster" } as HostConfiguration, Buffer.from(text(1)));
  later.end();
  expect(answered.name).toBe("cluster");
  expect(kept()).toEqual({ ok: true, value: text(2, ',"a":1') });
});

test("RT-02 the configuration of a DEL is kept where there is no other", () => {
  add(text(1), "DEL");
  expect(kept()).toEqual({ ok: true, value: text(1) });
  add(text(2), "STATUS");
  vi.advanceTimersByTime(15_000);
  expect(kept()).toEqual({ ok: true, value: text(2) });
});

test("a state directory that is not reconciled is warned of once, and a text that is no object each time that it comes after another", () => {
  for (const cniDir of ["/elsewhere", "/elsewhere"])
    calls.add("ADD", { cniDir, name: "cluster" } as HostConfiguration, Buffer.from(text(1)));
  expect(warnings).toEqual([expect.stringContaining("--state-dir /elsewhere")]);
  add("[]");
  expect(warnings).toEqual([expect.anything(), expect.stringContaining("configuration cluster cannot be stored")]);
});
