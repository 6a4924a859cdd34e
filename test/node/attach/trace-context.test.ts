// W3C trace context through a chain of real plugins: the environment of each plugin and the spans in the trace file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${caller}-01`;

const traceOf = ({ TRACEPARENT, TRACESTATE, BAGGAGE }: Readonly<Record<string, string>>) => [TRACEPARENT, TRACESTATE, BAGGAGE];

describe.skipIf(missingForMixed("trace context"))("trace context", () => {
  let stage: Stage;
  let probe: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    probe = installRecorder(stage.plexus.cniPath, "probe");
  });
  afterEach(() => stage.dispose());

  const add = (config: object, env: Readonly<Record<string, string>>) =>
    stage.request({ verb: "ADD", containerId: "traced", netns: stage.pod().path, ifname: "eth0", config, env });

  test("L-64 reaches the plugins unchanged if no spans are recorded", async () => {
    const config = stage.network([{ type: "probe" }], { trace: undefined });
    expect(await add(config, { TRACEPARENT: traceparent, TRACESTATE: "a=1", BAGGAGE: "b=2" })).toMatchObject({ status: 0 });
    expect(probe.calls().map(({ env }) => traceOf(env))).toEqual([[traceparent, "a=1", "b=2"]]);
  });

  test.each([
    ["malformed", `00-${traceId}-${caller}`],
    ["full of escapes", "\u001B[31m\n"],
    ["absent", undefined],
  ])("L-64 that is %s is removed together with state and baggage, and the pod is attached", async (_, text) => {
    const env = { ...(text === undefined ? {} : { TRACEPARENT: text }), TRACESTATE: "a=1", BAGGAGE: "b=2" };
    expect(await add(stage.network([{ type: "probe" }]), env)).toMatchObject({ status: 0, stderr: "" });
    expect(probe.calls().map(({ env: pluginEnv }) => traceOf(pluginEnv))).toEqual([[undefined, undefined, undefined]]);
  });

  test("L-64, E-17: gets a span for each recorded step; a nested component's parent is the calling plugin", async () => {
    const answer = await add(stage.network([bridgeStep(), shaperStep, { type: "probe" }]), { TRACEPARENT: traceparent });
    expect(answer).toMatchObject({ status: 0, stderr: "" });
    const lines = readFileSync(join(stage.plexus.directory, "trace"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    expect(lines.every((line) => line["traceId"] === traceId)).toBe(true);
    const spans = new Map(lines.map(({ type, spanId, parentSpanId }) => [type, { spanId, parentSpanId }]));
    expect(new Set([caller, ...lines.map(({ spanId }) => spanId)]).size).toBe(5);
    expect(lines.map(({ type, parentSpanId }) => [type, parentSpanId])).toEqual([
      ["ipam-host-local", spans.get("bridge")?.spanId],
      ["bridge", caller],
      ["status-shaper", caller],
      ["probe", caller],
    ]);
    expect(probe.calls().map(({ env }) => env["TRACEPARENT"])).toEqual([
      `00-${traceId}-${String(spans.get("probe")?.spanId)}-01`,
    ]);
  });
});
