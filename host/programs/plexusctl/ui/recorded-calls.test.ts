import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chainTraceText } from "../../../../src/chain-trace/read-chain-trace.ts";
import { exampleStep, exampleTrace } from "../../../../src/chain-trace/testing/example-trace.ts";
import type { RecentCall } from "../../../telemetry/recent-calls-document.ts";
import { recordingReader } from "./read-recordings.ts";
import { withRecordings } from "./recorded-calls.ts";

const call: RecentCall = {
  request: "r1",
  time: "2026-11-24T06:00:00.004Z",
  verb: "ADD",
  pod: "shop/cart-1",
  container: "c1",
  ifname: "eth0",
  network: "cluster",
  ms: 10,
  running: false,
  failure: null,
  steps: [],
  moreSteps: 0,
};
const recording = { name: "2026-11-24T06-00-00.000Z_ADD_c1.json", trace: exampleTrace() };

test("a recorded call of the daemon gets the changes of each step's result", () => {
  const [joined, ...others] = withRecordings([call], [recording]);
  expect(others).toEqual([]);
  expect(joined).toMatchObject({
    request: "r1",
    network: "cluster",
    recorded: recording.name,
    steps: [{ type: "host-local", changes: [{ path: "/ips/0", before: null, after: '{"address":"10.1.0.2/24"}' }] }],
  });
});

test("a call of another container, verb or time keeps its own steps, and the recording is a call of its own", () => {
  for (const other of [{ container: "c2" }, { verb: "DEL" }, { time: "2026-11-24T06:00:05.000Z" }, { running: true }]) {
    const joined = withRecordings([{ ...call, ...other }], [recording]);
    expect(joined.map(({ recorded }) => recorded).toSorted()).toEqual([recording.name, null]);
  }
});

test("each member of a first step's result is a change", () => {
  const first = exampleStep({ stdin: "{}", outcome: { ok: true, stdout: '{"cniVersion":"1.1.0","ips":[]}' } });
  const [joined] = withRecordings([], [{ ...recording, trace: exampleTrace([first]) }]);
  expect(joined?.steps[0]?.changes?.map(({ path }) => path)).toEqual(["/cniVersion", "/ips"]);
});

test("a called plugin's step follows its caller's, and a failure has its remedy", () => {
  const fault = { kind: "PLUGIN_FAILED", code: 7, msg: "no" };
  const inner = exampleStep({ type: "inner", caller: "nested-call", outcome: { ok: false, fault } });
  const reply = { status: 1, stdout: '{"code":7,"msg":"no","details":"Mend it."}' };
  const trace = { ...exampleTrace([exampleStep({ type: "outer", steps: [inner] })]), reply };
  const [joined] = withRecordings([], [{ ...recording, trace }]);
  expect(joined?.steps.map(({ type, nested, failure }) => [type, nested, failure?.remedy])).toMatchObject([
    ["outer", false, undefined],
    ["inner", true, expect.stringMatching(/./)],
  ]);
  expect(joined?.failure).toEqual({ fault: "", code: 7, msg: "no", remedy: "Mend it." });
});

test("reads at most 25 traces, and leaves out files that are no trace", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-ui-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (let number = 0; number < 40; number++)
    writeFileSync(
      join(directory, `2026-11-24T06-00-${String(number).padStart(2, "0")}.000Z_ADD.json`),
      chainTraceText(exampleTrace()),
    );
  writeFileSync(join(directory, "2026-11-24T07-00-00.000Z_ADD.json"), "{");
  const read = recordingReader();
  const first = read([directory, directory, join(directory, "absent")]);
  expect(first.map(({ name }) => name.slice(17, 19))).toEqual(Array.from({ length: 24 }, (_, index) => String(39 - index)));
  expect(read([directory])[0]).toBe(first[0]);
});
