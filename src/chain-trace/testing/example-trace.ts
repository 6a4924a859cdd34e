// For tests: traces and steps with ordinary values.

import type { ChainTrace, StepRecord } from "../chain-trace.ts";
import { type ObservedStep, stepRecord } from "../step-record.ts";

/** A step of the component `host-local` that reserves an address; `other` replaces fields. */
export function exampleStep(other: Partial<ObservedStep> = {}): StepRecord {
  return stepRecord({
    network: "pods",
    ifname: "eth0",
    verb: "ADD",
    type: "host-local",
    kind: "wasm",
    caller: "chain",
    purpose: "call",
    startMs: 1,
    ms: 2,
    env: { CNI_COMMAND: "ADD", CNI_IFNAME: "eth0" },
    stdin: '{"cniVersion":"1.1.0","name":"pods","type":"host-local","prevResult":{"cniVersion":"1.1.0","ips":[]}}',
    outcome: { ok: true, stdout: '{"cniVersion":"1.1.0","ips":[{"address":"10.1.0.2/24"}]}' },
    component: {
      path: "/opt/cni/bin/host-local.wasm",
      digest: `sha256:${"0".repeat(64)}`,
      grants: { leases: {} },
      limits: {},
      calls: [
        {
          capability: "leases",
          func: "reserveNext",
          args: [{ set: 0 }],
          answer: { ok: { address: "10.1.0.2", heldBefore: false } },
          ms: 0.5,
        },
      ],
      log: ["info: reserved"],
      usage: { memoryBytes: 65_536, inputBytes: 100, outputBytes: 80, guestMs: 0.2 },
    },
    verdicts: [],
    omitted: [],
    steps: [],
    ...other,
  });
}

/** A trace of an ADD with these steps. */
export function exampleTrace(steps: readonly StepRecord[] = [exampleStep()]): ChainTrace {
  return {
    plexus: "0.2.0",
    time: "2026-11-24T06:00:00.000Z",
    ms: 10,
    call: {
      verb: "ADD",
      containerId: "c1",
      ifname: "eth0",
      netns: "/run/netns/a",
      pod: "shop/cart-1",
      args: "",
      stdin: '{"cniVersion":"1.1.0","name":"cluster","type":"plexus"}',
    },
    reply: { status: 0, stdout: '{"cniVersion":"1.1.0"}' },
    steps,
    secrets: 0,
    omitted: [],
  };
}
