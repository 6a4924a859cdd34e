// The brain of the benchmark ipam-step: started by the hands for one call, it runs IPAM steps in turns, WASM in the sandbox
// and native through the hands, and answers with what each took.

import { readFileSync } from "node:fs";

import { type DelegateHost, namedByFile, runDelegateStep } from "../../host/brain/delegate-step.ts";
import { runNativeStep } from "../../host/brain/native-step.ts";
import { OneShotHands } from "../../host/hands/one-shot-hands.ts";
import { OneShotStream, receiveCall } from "../../host/hands/one-shot-stream.ts";
import { Admission } from "../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../host/sandbox/in-process.ts";
import { runSync } from "../../host/leases/effect.ts";
import { LeaseMemory } from "../../host/leases/lease-memory.ts";
import { lockSync } from "../../host/locks/file-lock.ts";
import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { addChain, delChain } from "../../src/cni/chains.ts";
import { parseNetworkList, type NetworkList } from "../../src/cni/network-list.ts";
import { ok } from "../../src/fault/result.ts";
import { inTurns } from "./measure.ts";

/** What the benchmark says on stdin. */
export interface IpamBrainRequest {
  readonly component: string;
  /** Where both keep their leases. */
  readonly leases: string;
  readonly warmUp: number;
  readonly samples: number;
}

function isRequest(value: unknown): value is IpamBrainRequest {
  return (
    typeof value === "object" &&
    value !== null &&
    "component" in value &&
    "leases" in value &&
    "warmUp" in value &&
    "samples" in value
  );
}

const stream = new OneShotStream();
const call = receiveCall(stream);
const hands = new OneShotHands(stream, async () => ({ status: 1, stdout: "", stderr: "" }));
const request: unknown = JSON.parse(Buffer.from(call.stdin).toString("utf8"));
if (!isRequest(request)) throw new Error("not a request of the benchmark");

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
    args: [],
    capabilityArgs: new Map<string, string>(),
  };
  const context = { list, path: cniPath, inherited: [], attachment };
  const step = (verb === "ADD" ? addChain(context) : delChain(context, undefined)).next();
  if (step.done === true) throw new Error("the chain has no step");
  return step.value;
}

// The component's bytes and what was admitted stay in memory: that is what "warm" means. Its instance never does.
const bytes = readFileSync(request.component);
const host: DelegateHost = {
  admission: new Admission(),
  names: namedByFile,
  runner: new InProcessRunner(),
  read: async () => ok(bytes),
  hands,
  lease: (operation) => runSync(operation, lockSync),
  leaseMemory: new LeaseMemory(),
  log: () => {},
};
const wasm = {
  prefer: false,
  isolation: "in-process",
  limits: {},
  otherGrants: {},
  grants: { "ipam-host-local": { log: {}, leases: { directories: [request.leases] }, resolver: {} } },
} as const;

const terms = { mostMs: Infinity, callers: [], stepTimeoutMs: 0, another: noOther };

async function noOther(): Promise<StepOutcome> {
  throw new Error("it calls no other plugin");
}

type Run = (step: ChainStep) => Promise<StepOutcome>;

async function expectSuccess(outcome: Promise<StepOutcome>): Promise<string> {
  const ended = await outcome;
  if (!ended.ok) throw new Error(`${ended.fault.msg}; ${ended.fault.details ?? ""}`);
  return ended.stdout;
}

/** An ADD, timed, and a DEL, not. */
function adding(list: NetworkList, run: Run): () => Promise<number> {
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
const taken = await inTurns({
  subject: adding(listOf("bench-wasm", "ipam-host-local", leases), (step) =>
    runDelegateStep(host, { wasm }, step, { path: component, identity: "warm" }, terms),
  ),
  baseline: adding(listOf("bench-native", "host-local", leases), (step) =>
    runNativeStep(hands, step, { deadlineMs: 10_000, nest: "", goMaxProcs: 0 }),
  ),
  warmUp,
  samples,
});
hands.reply({ status: 0, stdout: JSON.stringify(taken), stderr: "" });
