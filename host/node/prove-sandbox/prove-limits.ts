// Proves the limits of a call on this node: each hostile component must end as its limit says. A component is bounded itself, so that the proof
// ends also where a limit does not hold.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { Admission } from "../../sandbox/admission/admit.ts";
import { defaultLimits, type Limits } from "../../sandbox/limits.ts";
import type { GuestRunner } from "../../sandbox/runner.ts";
import { canaryComponents } from "./canaries/canary-components.ts";

/** What a hostile component has shown. */
export interface LimitProof {
  readonly name: string;
  readonly tries: string;
  readonly holds: boolean;
  /** How the component ended: the kind of a fault, or OK. */
  readonly ended: FaultKind | "OK";
}

interface Canary {
  readonly tries: string;
  /** The kinds of faults with which the limit ends the component. */
  readonly expected: readonly FaultKind[];
  readonly granted: readonly string[];
  /** Bytes of the request's configuration. */
  readonly inputBytes: number;
}

const small = { granted: ["log", "leases"], inputBytes: 0 } as const;

const canaries: Readonly<Record<keyof typeof canaryComponents, Canary>> = {
  spin: { ...small, tries: "computes for seconds", expected: ["LIMIT_TIME"] },
  memory: { ...small, tries: "grows its memory by 64 MiB", expected: ["LIMIT_MEMORY", "DELEGATE_TRAPPED"] },
  output: { ...small, tries: "answers a text of 2 MiB", expected: ["LIMIT_OUTPUT"] },
  input: { ...small, tries: "gets a request of 2 MiB", expected: ["LIMIT_INPUT"], inputBytes: 2 * 1024 * 1024 },
  log: { ...small, tries: "writes 8000 lines of log", expected: ["LIMIT_LOG"] },
  imports: { ...small, tries: "calls an import 20000 times", expected: ["LIMIT_TIME"] },
  recursion: { ...small, tries: "calls itself a million times deep", expected: ["LIMIT_RECURSION"] },
  capability: {
    ...small,
    tries: "imports a capability that is not granted",
    expected: ["CAPABILITY_NOT_GRANTED"],
    granted: ["log"],
  },
};

/** The limits of the proof: the defaults, with a shorter time. */
export const proofLimits: Limits = { ...defaultLimits, timeMs: 400 };
const deadlineMs = 20_000;

/** Runs each hostile component once, or only those of these names. The runner's processes are those of the node. */
export async function proveLimits(
  runner: GuestRunner,
  limits: Limits = proofLimits,
  names: readonly string[] = Object.keys(canaries),
): Promise<readonly LimitProof[]> {
  const proofs: LimitProof[] = [];
  for (const [name, canary] of Object.entries(canaries).filter(([each]) => names.includes(each))) {
    const ended = await run(runner, Buffer.from(Reflect.get(canaryComponents, name), "base64"), canary, limits);
    proofs.push({ name, tries: canary.tries, holds: canary.expected.some((kind) => kind === ended), ended });
  }
  return proofs;
}

async function run(
  runner: GuestRunner,
  bytes: Uint8Array,
  { granted, inputBytes }: Canary,
  limits: Limits,
): Promise<FaultKind | "OK"> {
  const admitted = new Admission().admit(bytes, { granted, limits });
  if (!admitted.ok) return admitted.fault.kind;
  const config = JSON.stringify({ type: "canary", padding: "x".repeat(inputBytes) });
  const network = { cniVersion: "1.1.0", name: "canary", config };
  const attachment = { containerId: "canary", netns: "/nonexistent", ifname: "eth0", args: [] };
  const request = { call: { remainingMs: deadlineMs, granted: [] }, network, attachment };
  const imports = { log: { write: () => undefined }, leases: { probe: () => [] } };
  const call = { component: admitted.value, verb: "add", request, limits, deadlineMs } as const;
  const result = await runner.call(call, Reflect.apply(Object, undefined, [imports]));
  return result.ok ? "OK" : result.fault.kind;
}
