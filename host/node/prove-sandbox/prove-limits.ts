// Proves the limits of a call on this node: each hostile component must end as its limit says. A component is bounded itself, so that the proof
// ends also where a limit does not hold.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { Admission } from "../../sandbox/admission/admit.ts";
import { defaultLimits, type Limits } from "../../sandbox/limits.ts";
import type { GuestRunner } from "../../sandbox/runner.ts";
import { canaryComponents } from "./canaries/canary-components.ts";

/** The outcome of a hostile component. */
export interface LimitProof {
  readonly name: string;
  readonly tries: string;
  readonly holds: boolean;
  /** How the component ended: the kind of a fault, or OK. */
  readonly ended: FaultKind | "OK";
}

/** The limits that a test switches off, to see the proof fail. */
export interface ProofSwitches {
  /** Limits in place of the proof's. */
  readonly limits?: Partial<Limits>;
  /** Capabilities that are granted to every component. */
  readonly granted?: readonly string[];
  /** Only the components of these names. */
  readonly names?: readonly string[];
}

interface Canary {
  readonly tries: string;
  /** The kinds of faults with which the limit ends the component. */
  readonly expected: readonly FaultKind[];
  /** A part of the fault's message that tells this limit from others of the same kind. */
  readonly message?: string;
  /** Limits that differ from those of the proof. */
  readonly limits?: Partial<Limits>;
  readonly granted?: readonly string[];
  /** Bytes of the request's configuration. */
  readonly inputBytes?: number;
}

const canaries: Readonly<Record<keyof typeof canaryComponents, Canary>> = {
  spin: { tries: "computes for seconds", expected: ["LIMIT_TIME"], message: "used up its", limits: { timeMs: 400 } },
  memory: { tries: "grows its memory by 64 MiB", expected: ["LIMIT_MEMORY", "DELEGATE_TRAPPED"] },
  output: { tries: "answers a text of 2 MiB", expected: ["LIMIT_OUTPUT"] },
  input: { tries: "gets a request of 2 MiB", expected: ["LIMIT_INPUT"], inputBytes: 2 * 1024 * 1024 },
  log: { tries: "writes 8000 lines of log", expected: ["LIMIT_LOG"] },
  imports: { tries: "calls an import 20000 times", expected: ["LIMIT_TIME"], message: "calls its imports more than" },
  recursion: { tries: "calls itself a million times deep", expected: ["LIMIT_RECURSION"] },
  capability: {
    tries: "imports a capability that is not granted",
    expected: ["CAPABILITY_NOT_GRANTED"],
    granted: ["log"],
  },
};

/** The defaults, with more time: on a slow node a component must end by the limit that it tries. */
const proofLimits: Limits = { ...defaultLimits, timeMs: 10_000 };

/** Runs each hostile component once. The runner's processes are those of the node. */
export async function proveLimits(runner: GuestRunner, switches: ProofSwitches = {}): Promise<readonly LimitProof[]> {
  const { names = Object.keys(canaries) } = switches;
  const proofs: LimitProof[] = [];
  for (const [name, canary] of Object.entries(canaries).filter(([each]) => names.includes(each))) {
    const bytes = Buffer.from(Reflect.get(canaryComponents, name), "base64");
    const ended = await run(runner, bytes, canary, switches);
    const { kind, msg } = ended ?? { kind: "OK", msg: "" };
    const holds = canary.expected.some((each) => each === kind) && msg.includes(canary.message ?? "");
    proofs.push({ name, tries: canary.tries, holds, ended: kind });
  }
  return proofs;
}

/** The fault that ended the component; undefined: none. */
async function run(runner: GuestRunner, bytes: Uint8Array, canary: Canary, switches: ProofSwitches): Promise<Fault | undefined> {
  const limits = { ...proofLimits, ...canary.limits, ...switches.limits };
  // A deadline that ends the component before its limit would prove nothing about the limit.
  const deadlineMs = Math.max(20_000, limits.timeMs);
  const granted = switches.granted ?? canary.granted ?? ["log", "leases"];
  const admitted = new Admission().admit(bytes, { granted, limits });
  if (!admitted.ok) return admitted.fault;
  const config = JSON.stringify({ type: "canary", padding: "x".repeat(canary.inputBytes ?? 0) });
  const network = { cniVersion: "1.1.0", name: "canary", config };
  const attachment = { containerId: "canary", netns: "/nonexistent", ifname: "eth0", args: [] };
  const request = { call: { remainingMs: deadlineMs, granted: [] }, network, attachment };
  const imports = { log: { write: () => undefined }, leases: { probe: () => [] } };
  const call = { component: admitted.value, verb: "add", request, limits, deadlineMs } as const;
  const result = await runner.call(call, Reflect.apply(Object, undefined, [imports]));
  return result.ok ? undefined : result.fault;
}
