// The engine of the benchmark ipam-step. The shim starts it for one call; it runs WASM IPAM steps in the sandbox and native
// IPAM steps through the shim in turns, and answers with the duration of each.

import { readFileSync } from "node:fs";
import { Socket } from "node:net";

import type { DelegateHost } from "../host/capabilities/delegate-host.ts";
import type { Step } from "../host/capabilities/step.ts";
import { runDelegateStep } from "../host/engine/steps/delegate-step.ts";
import { partialCall } from "../host/engine/testing/partial-call.ts";
import { systemClock } from "../host/system/clock.ts";
import { runNativeStep } from "../host/engine/steps/native-step.ts";
import { ConnectedShim } from "../host/protocol/connected-shim.ts";
import type { Shim } from "../host/protocol/shim.ts";
import { Admission } from "../host/sandbox/admission/admit.ts";
import { namedByFile } from "../host/sandbox/component-file.ts";
import { ComponentDemands } from "../host/sandbox/provenance/component-demands.ts";
import { InProcessRunner } from "../host/sandbox/in-process.ts";
import { runAsync } from "../host/capabilities/leases/effect.ts";
import { LeaseMemory } from "../host/capabilities/leases/lease-memory.ts";
import { lockAsync } from "../host/store/locks/file-lock.ts";
import type { ChainStep, StepOutcome } from "../src/cni/chain-step.ts";
import { addChain, delChain } from "../src/cni/chains.ts";
import { parseNetworkList, type NetworkList } from "../src/cni/network-list.ts";
import { grantsOf } from "../src/configuration/definition-policy.ts";
import { inTurns } from "./measure.ts";

/** The benchmark's request on stdin. */
export interface IpamEngineRequest {
  readonly component: string;
  /** The directory of the leases of both plugins. */
  readonly leases: string;
  readonly warmUp: number;
  readonly samples: number;
}

function isRequest(value: unknown): value is IpamEngineRequest {
  return (
    typeof value === "object" &&
    value !== null &&
    "component" in value &&
    "leases" in value &&
    "warmUp" in value &&
    "samples" in value
  );
}

const connected = new ConnectedShim(new Socket({ fd: 3, readable: true, writable: true }));
const call = await connected.purpose;
if (call.kind !== "request") throw new Error("ipam-engine: the stream is an agent's");
/** The shim, with the component's file in memory, because the benchmark measures a warm engine. */
const shim: Shim = {
  ...connected.serving(async () => ({ status: 1, stdout: "", stderr: "" })),
  read: async () => ({ kind: "content", errno: 0, content: bytes }),
};
const request: unknown = JSON.parse(Buffer.from(call.stdin).toString("utf8"));
if (!isRequest(request)) throw new Error("ipam-engine: stdin is not a request of the benchmark ipam-step");

const cniPath = call.environment.get("CNI_PATH") ?? "";

function listOf(name: string, type: string, dataDir: string): NetworkList {
  const ipam = { type, dataDir, ranges: [[{ subnet: "10.67.0.0/16" }]] };
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name, plugins: [{ type, ipam }] }));
  if (!list.ok) throw new Error(list.fault.msg);
  return list.value;
}

let containers = 0;

/** The only step of the chain, for the container `n`. */
function stepOf(list: NetworkList, verb: "ADD" | "DEL", n: number): ChainStep {
  const attachment = {
    containerId: `bench-${n}`,
    ifname: "eth0",
    netns: "/run/netns/none",
    args: "",
    capabilityArgs: new Map<string, string>(),
  };
  const context = { list, path: cniPath, inherited: [], attachment };
  const step = (verb === "ADD" ? addChain(context) : delChain(context, undefined)).next();
  if (step.done === true) throw new Error("the chain has no step");
  return step.value;
}

// A warm engine keeps the component's bytes and its admission in memory, but never an instance.
const bytes = readFileSync(request.component);
const wasm = {
  enabled: true,
  prefer: false,
  isolation: "in-process",
  sandboxUids: "same",
  limits: {},
  otherGrants: {},
  demands: {},
  require: undefined,
  exempt: [],
  keys: {},
  grants: { "ipam-host-local": { log: {}, leases: { directories: [request.leases] }, resolver: {} } },
} as const;
const host: DelegateHost = {
  wasm,
  admission: new Admission(),
  componentNames: namedByFile,
  demands: new ComponentDemands(),
  runner: new InProcessRunner(),
  shim,
  clock: systemClock,
  runLeaseOperation: (operation) => runAsync(operation, lockAsync),
  leaseMemory: new LeaseMemory(),
  log: () => {},
};
/** A chain's step with its place, as the engine makes it. */
function runningStep(step: ChainStep): Step {
  const grants = grantsOf(wasm, step.plugin.type);
  const place = { origin: "chain", network: "bench", ifname: "eth0", callers: [] } as const;
  return { step, ...place, grants, timeoutMs: 10_000, maxMs: Infinity, runDelegated: refuseNestedCall };
}

async function refuseNestedCall(): Promise<StepOutcome> {
  throw new Error("ipam-host-local called another plugin");
}

type Run = (step: ChainStep) => Promise<StepOutcome>;

async function expectSuccess(outcome: Promise<StepOutcome>): Promise<string> {
  const ended = await outcome;
  if (!ended.ok) throw new Error(`${ended.fault.msg}; ${ended.fault.details ?? ""}`);
  return ended.stdout;
}

/** Runs an ADD and a DEL, and returns the duration of the ADD in ms. */
function timedAdd(list: NetworkList, run: Run): () => Promise<number> {
  return async () => {
    const n = containers++;
    const step = stepOf(list, "ADD", n);
    const started = performance.now();
    const stdout = await expectSuccess(run(step));
    const took = performance.now() - started;
    if (!stdout.includes("10.67.")) throw new Error(`no address: ${stdout}`);
    await expectSuccess(run(stepOf(list, "DEL", n)));
    return took;
  };
}

const { component, leases, warmUp, samples } = request;
const nativeCall = partialCall({
  shim,
  configuration: { goMaxProcs: 0 },
  nestedCallDirectory: "",
  output: () => {},
  clock: systemClock,
});
const taken = await inTurns({
  subject: timedAdd(listOf("bench-wasm", "ipam-host-local", leases), (step) =>
    runDelegateStep(host, runningStep(step), { path: component, identity: "warm" }),
  ),
  baseline: timedAdd(listOf("bench-native", "host-local", leases), (step) => runNativeStep(nativeCall, runningStep(step))),
  warmUp,
  samples,
});
connected.reply({ status: 0, stdout: JSON.stringify(taken), stderr: "" });
