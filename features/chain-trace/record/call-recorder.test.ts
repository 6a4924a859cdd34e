import { expect, test } from "vitest";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import type { ChainTrace } from "../../../src/chain-trace/chain-trace.ts";
import type { StepDetail } from "../../../host/capabilities/step-detail.ts";
import type { Step } from "../../../host/capabilities/step.ts";
import { CallRecorder } from "./call-recorder.ts";

const secret = "hunter2-secret";
const call = { verb: "ADD", containerId: "one", ifname: "eth0", netns: "", pod: undefined, args: "", stdin: "{}" } as const;

function stepOf(stdin: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ cniVersion: "1.1.0", name: "pods", type: "vpn" }), "test");
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const attachment = { containerId: "one", ifname: "eth0" };
  return { index: 0, plugin: plugin.value, verb: "ADD", stdin, env: [], prevResult: undefined, attachment };
}

/** Records a step with this input and these details, whose plugin prints the secret. */
function recorded(stdin: string, ...details: readonly StepDetail[]): ChainTrace {
  const recorder = new CallRecorder(call, () => 0, new Date(0));
  const step: Step = {
    step: stepOf(stdin),
    origin: "chain",
    network: "pods",
    ifname: "eth0",
    callers: [],
    grants: {},
    timeoutMs: 1,
    maxMs: 1,
    runDelegated: () => expect.fail("no step is delegated"),
  };
  const native = { path: "/opt/cni/bin/vpn", exit: "exit status 0", stderr: `used ${secret}` };
  const identity = {
    containerId: "one",
    network: "pods",
    ifname: "eth0",
    verb: "ADD",
    type: "vpn",
    kind: "native",
    nested: false,
  } as const;
  recorder.receive({ what: "step-began", run: 1, kind: "native", step });
  for (const detail of [...details, { what: "process-ended", native } as const])
    recorder.receive({ what: "step-detail", run: 1, detail });
  recorder.receive({ what: "step-ended", run: 1, step: identity, ms: 1, outcome: { ok: true, stdout: "" }, span: undefined });
  return recorder.trace({ status: 0, stdout: "" }, 1);
}

const padding = "x".repeat(1024 * 1024);

test.each([
  ["an input beyond the size of a trace", recorded(JSON.stringify({ psk: secret, padding }))],
  [
    "an input whose completed form is beyond the size of a trace",
    recorded(JSON.stringify({ psk: secret }), {
      what: "configuration-completed",
      stdin: JSON.stringify({ psk: secret, padding }),
    }),
  ],
  [
    "an input whose completed form lacks the secret",
    recorded(JSON.stringify({ psk: secret }), { what: "configuration-completed", stdin: JSON.stringify({ padding }) }),
  ],
])("the secret of %s stays out of the outputs, too", (_, trace) => {
  expect(trace.steps[0]).toMatchObject({ stdin: "", omitted: ["stdin"], native: { stderr: "used [redacted-1]" } });
  expect(JSON.stringify(trace)).not.toContain(secret);
});
