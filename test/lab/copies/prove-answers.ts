// The right answers of a copy of a zygote: this process computes the outcomes of one component beforehand, and compares those of a copy with them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { resultOf } from "../../../host/sandbox/call-result.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { GuestSessions } from "../../../host/sandbox/process/guest-sessions.ts";
import type { SandboxProcess } from "../../../host/sandbox/process/sandbox-process.ts";
import type { VerbTypes } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { GuestCall } from "../../../host/sandbox/runner.ts";
import { plainRequests, recordingImports } from "../../hostile/components/requests.ts";

/** Time and admission limits that a machine under load does not reach: a limit would count as a wrong answer. */
const limits = { ...defaultLimits, timeMs: 60_000, admissionMs: 60_000 };
const deadlineMs = 300_000;

/** The components: one without imports that wait, one whose imports are read while it runs, one that is suspended during its imports. */
const chains: Readonly<Record<string, { readonly granted: readonly string[]; readonly config: object }>> = {
  "status-shaper": { granted: ["log"], config: { dns: { nameservers: ["10.0.0.1", "fd00::1"], search: ["shop.example"] } } },
  "ipam-host-local": {
    granted: ["log", "leases", "resolver"],
    config: { ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.73.0.0/16" }], [{ subnet: "fd73::/64" }]] } },
  },
  tuning: {
    granted: ["log", "links", "sysctl", "state"],
    config: { sysctl: { "net/ipv4/conf/IFNAME/arp_ignore": "1" }, mac: "02:00:00:00:00:09", mtu: 1400 },
  },
};

/** A component and its outcomes. */
export interface Expected {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The examined component, and the answer with its calls of capabilities, as texts. */
  readonly examined: string;
  readonly answer: string;
  readonly call: GuestCall<"add">;
}

/** JSON with sorted keys, and with bytes as base64. */
function textOf(value: unknown): string {
  return JSON.stringify(plain(value));
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}

function examinedText({
  plan,
  modules,
  declaration,
  capabilities,
}: Pick<AdmittedComponent, "plan" | "modules" | "declaration" | "capabilities">): string {
  return textOf([plan, modules, declaration, capabilities]);
}

/** The answer with the calls of capabilities, as a text. */
export function answerText(result: Awaited<ReturnType<InProcessRunner["call"]>>, calls: readonly unknown[]): string {
  return textOf(result.ok ? { value: result.value.value, calls } : { fault: result.fault, calls });
}

/** The outcomes of the components of the installation in `home`. */
export async function expectedAnswers(home: string): Promise<readonly Expected[]> {
  const runner = new InProcessRunner();
  const all: Expected[] = [];
  for (const [name, { granted, config }] of Object.entries(chains)) {
    const bytes = readFileSync(join(home, "delegates", `${name}.wasm`));
    const admitted = new Admission().admit(bytes, { granted, limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    const call = {
      component: admitted.value,
      verb: "add",
      request: requestOf(name, config),
      limits,
      deadlineMs,
    } as const;
    const { imports, calls } = recordingImports();
    const result = await runner.call(call, imports);
    if (!result.ok) throw new Error(result.fault.msg);
    const answer = answerText(result, calls);
    all.push({ name, bytes, examined: examinedText(admitted.value), answer, call });
  }
  return all;
}

/** An ADD after a plugin that has made the interface. IPAM comes first in its chain. */
function requestOf(name: string, config: object): VerbTypes["add"]["request"] {
  const { call, attachment } = plainRequests.add;
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "copies", type: name, ...config });
  const network = { cniVersion: "1.0.0", name: "copies", config: text };
  const prevResult = {
    interfaces: [{ name: "eth0", mac: "02:00:00:00:00:01", sandbox: "/run/netns/c1" }],
    ips: [{ address: "10.1.0.2/24", gateway: "10.1.0.1", interface: 0 }],
    routes: [],
  };
  const isFirst = name.startsWith("ipam");
  return { call, attachment: { ...attachment, args: [] }, network, ...(isFirst ? {} : { prevResult }) };
}

/** The outcome of a copy: all answers were right, one was wrong (with the difference), or the copy was lost before its last answer. */
export type Verdict = { readonly kind: "right" } | { readonly kind: "wrong" | "lost"; readonly text: string };

/** Loads the component into the process, or lets it examine the component first, and calls it. The process must be ready and have no calls. */
export async function proveAnswers(process: SandboxProcess, expected: Expected, examines: boolean): Promise<Verdict> {
  const { call } = expected;
  const sessions = new GuestSessions(process, () => undefined);
  const examined = examines ? await proveExamination(sessions, expected) : right;
  if (examined.kind !== "right") return examined;
  for (let round = 0; round < (examines ? 2 : 1); round++) {
    const { imports, calls } = recordingImports();
    const outcome = await sessions.run(call, imports);
    if (outcome.kind === "broken" && outcome.fault === "SANDBOX_UNAVAILABLE") return { kind: "lost", text: outcome.message };
    const answer = answerText(resultOf(call.component, "add", outcome), calls);
    if (answer !== expected.answer) return { kind: "wrong", text: `call ${round}: ${differenceOf(expected.answer, answer)}` };
  }
  return right;
}

const right: Verdict = { kind: "right" };

async function proveExamination(sessions: GuestSessions, { bytes, call, examined }: Expected): Promise<Verdict> {
  const { result, isFinal } = await sessions.admit({ key: call.component.key, bytes, limits });
  if (!result.ok) return { kind: isFinal ? "wrong" : "lost", text: `admission: ${result.fault.msg}` };
  const text = examinedText({ ...call.component, ...result.value });
  return text === examined ? right : { kind: "wrong", text: `examined ${differenceOf(examined, text)}` };
}

function differenceOf(wanted: string, got: string): string {
  let at = 0;
  while (at < wanted.length && wanted[at] === got[at]) at++;
  return `${JSON.stringify(got.slice(at, at + 200))} in place of ${JSON.stringify(wanted.slice(at, at + 200))}`;
}
