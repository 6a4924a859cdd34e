import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mappedId, missing } from "../../lab/requires.ts";
import { listTraces, openTraceDirectory, traceFileName, writeTrace } from "../../../host/store/traces/trace-directory.ts";
import { systemClock } from "../../../host/system/clock.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-traces-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

test("a missing directory is made for its owner only", () => {
  const path = join(root, "state", "traces");
  expect(openTraceDirectory(path, systemClock)).toMatchObject({ ok: true });
  expect(modeOf(path)).toBe(0o700);
  expect(openTraceDirectory(path, systemClock)).toMatchObject({ ok: true });
});

test("an existing directory that other users may enter is refused and stays as it is", () => {
  const path = join(root, "log");
  mkdirSync(path);
  for (const mode of [0o755, 0o1777]) {
    chmodSync(path, mode);
    expect(openTraceDirectory(path, systemClock)).toMatchObject({ ok: false, fault: { kind: "STORE_UNSAFE" } });
    expect(modeOf(path)).toBe(mode);
  }
});

test("a link and a file are refused", () => {
  const target = join(root, "target");
  mkdirSync(target, { mode: 0o700 });
  symlinkSync(target, join(root, "link"));
  expect(openTraceDirectory(join(root, "link"), systemClock)).toMatchObject({ ok: false, fault: { kind: "STORE_UNSAFE" } });
});

const notRoot = process.geteuid?.() !== 0;
test.skipIf(notRoot || missing("a daemon that is not root", mappedId(1)))(
  "a directory that root makes belongs to the owner of the state directory",
  () => {
    const state = join(root, "state");
    mkdirSync(state, { mode: 0o700 });
    chownSync(state, 1, 1);
    const path = join(state, "traces");
    expect(openTraceDirectory(path, systemClock)).toMatchObject({ ok: true });
    expect([statSync(path).uid, statSync(path).gid, modeOf(path)]).toEqual([1, 1, 0o700]);
    // The one-shot engine of root still uses it.
    expect(openTraceDirectory(path, systemClock)).toMatchObject({ ok: true });
  },
);

test("what an interrupted write has left is removed; a write that is under way, and other files, stay", () => {
  const [old, fresh, other] = [".2026-11-24T1.json", ".2026-11-24T2.json", ".other"].map((name) => join(root, name));
  for (const path of [old, fresh, other]) writeFileSync(path ?? "", "");
  for (const path of [old, other]) utimesSync(path ?? "", 0, 0);
  expect(openTraceDirectory(root, systemClock)).toMatchObject({ ok: true });
  expect([old, fresh, other].map((path) => existsSync(path ?? ""))).toEqual([false, true, true]);
});

test("the oldest traces are removed for new ones, and other files stay", () => {
  mkdirSync(join(root, "notes.json"));
  const write = (second: number): unknown => {
    const time = `2026-11-24T00:00:0${second}.000Z`;
    const name = traceFileName({ time, verb: "ADD", containerId: "one", ifname: "eth0", unique: "a" });
    return writeTrace(root, name, "x".repeat(10), { maxFiles: 2, maxBytes: 100 });
  };
  for (const second of [1, 2, 3]) expect(write(second)).toMatchObject({ ok: true });
  const listed = listTraces(root);
  expect(listed.ok ? listed.value.map(({ name }) => name.slice(17, 19)) : []).toEqual(["03", "02"]);
  expect(existsSync(join(root, "notes.json"))).toBe(true);
  expect(writeTrace(root, "2026-11-24T0.json", "x".repeat(101), { maxFiles: 2, maxBytes: 100 })).toMatchObject({ ok: false });
});
