import { expect, test } from "vitest";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { CallRecorder } from "./call-recorder.ts";

const secret = "hunter2-secret";
const call = { verb: "ADD", containerId: "one", ifname: "eth0", netns: "", pod: undefined, args: "", stdin: "{}" } as const;

function stepOf(stdin: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ cniVersion: "1.1.0", name: "pods", type: "vpn" }), "test");
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const attachment = { containerId: "one", ifname: "eth0" };
  return { index: 0, plugin: plugin.value, verb: "ADD", stdin, env: [], prevResult: undefined, attachment };
}

test("the secret of an input for which the trace has no room stays out of the outputs, too", () => {
  const recorder = new CallRecorder({ call, now: () => 0, time: new Date(0) });
  const stdin = JSON.stringify({ psk: secret, padding: "x".repeat(1024 * 1024) });
  const running = { step: stepOf(stdin), origin: "chain", network: "pods", ifname: "eth0", callers: [] } as const;
  const step = recorder.begin({ kind: "native" }, running);
  step?.native({ path: "/opt/cni/bin/vpn", exit: "exit status 0", stderr: `used ${secret}` });
  step?.end(1, { ok: true, stdout: "" });
  const trace = recorder.trace({ status: 0, stdout: "" }, 1);
  expect(trace.steps[0]).toMatchObject({ stdin: "", omitted: ["stdin"], native: { stderr: "used [redacted-1]" } });
  expect(JSON.stringify(trace)).not.toContain(secret);
});
