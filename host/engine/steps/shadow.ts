// Runs shadows: a component beside a native step, without effects, after the step's answer. The pod always gets the native result.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import type { RunStep } from "../../../src/cni/chains.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import { stepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { isJsonObject, type JsonObjectDocument, memberValue, parseDocument } from "../../../src/json/document.ts";
import type { JsonChange } from "../../../src/json/json-changes.ts";
import { effectDifferences, ipamDifferences, stepDifferences } from "../../../src/step-policy/compare-shadow.ts";
import { leaseScopeOf } from "../../capabilities/bound-step.ts";
import { DryRun } from "../../capabilities/dry/dry-run.ts";
import { LeaseSnapshot } from "../../capabilities/leases/lease-snapshot.ts";
import { poolDirectory } from "../../capabilities/leases/scope.ts";
import type { Step } from "../../capabilities/step.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { ShadowOutcome } from "../../../src/step-policy/shadow-report.ts";
import type { Call, ChainIdentity } from "../call.ts";
import { tellShadow } from "../events/tell-verdicts.ts";

/** Maximum milliseconds by which one shadow may delay a call. */
export const shadowMs = 1000;

/** A shadow runs only if the step's remaining time is this many times `shadowMs`. */
const minTimes = 4;

/** The verbs whose answers can be compared. DEL and GC answer nothing, and their state is gone when a shadow could look. */
const comparedVerbs: ReadonlySet<string> = new Set(["ADD", "CHECK"]);

/** A native plugin with a shadow. */
interface Shadowed {
  readonly type: string;
  readonly shadow: string;
  readonly role: "step" | "ipam";
}

/** Runs a step of the chain by `run`, and after a native step its shadow. Answers the step's own outcome. */
export async function runWithShadow(
  call: Call,
  chain: ChainIdentity,
  rules: StepRules,
  { run, step }: { readonly run: RunStep; readonly step: ChainStep },
): Promise<StepOutcome> {
  const found = comparedVerbs.has(step.verb) ? await shadowOf(call, step, rules) : undefined;
  if (found === undefined) return run(step);
  const running = runningShadow(call, chain, step, found);
  const dry = new DryRun(snapshotFor(running));
  const outcome = await run(step);
  // Only a success can be compared: the failure of the native step is the call's, whatever a shadow says.
  if (outcome.ok && outcome.passedOver !== true)
    await runShadow(call, chain, step, { ...running, dry }, { ...found, nativeText: outcome.stdout });
  return outcome;
}

/** The shadow of a step, or of the IPAM plugin that a native step calls itself. */
async function shadowOf(
  { plugins }: Call,
  { plugin: { type, ipamType } }: ChainStep,
  rules: StepRules,
): Promise<Shadowed | undefined> {
  const { shadow } = stepRule(rules, type);
  const ipamShadow = ipamType === undefined ? undefined : stepRule(rules, ipamType).shadow;
  const isNative = async (each: string): Promise<boolean> => (await plugins.find(each)).what === "native";
  if (shadow === undefined && ipamShadow === undefined) return undefined;
  if (!(await isNative(type))) return undefined;
  if (shadow !== undefined) return { type, shadow, role: "step" };
  if (ipamType === undefined || ipamShadow === undefined || !(await isNative(ipamType))) return undefined;
  return { type: ipamType, shadow: ipamShadow, role: "ipam" };
}

function runningShadow(
  { configuration }: Call,
  { network, ifname, definition }: ChainIdentity,
  step: ChainStep,
  { shadow }: Shadowed,
): Step {
  return {
    step: { ...step, plugin: { ...step.plugin, type: shadow } },
    origin: "delegate",
    network,
    ifname,
    definition,
    callers: [],
    grants: grantsFor(configuration, definition, shadow),
    timeoutMs: shadowMs,
    maxMs: shadowMs,
    // `shadowRefusal` refuses a component with the capability `delegation`.
    runDelegated: async () => ({ ok: false, fault: fault("SHADOW_UNSUPPORTED", `${shadow}: a shadow calls no plugin`) }),
  };
}

/** The leases before the native step, in the directory that its configuration names; undefined without leases. */
function snapshotFor(running: Step): LeaseSnapshot | undefined {
  const { grants, step } = running;
  if (grants.leases === undefined) return undefined;
  const document = parseDocument(step.stdin, { what: "configuration" });
  const directory = poolDirectory(leaseScopeOf(running, undefined), document.ok ? dataDirIn(document.value) : undefined);
  return directory.ok ? LeaseSnapshot.of(directory.value) : undefined;
}

function dataDirIn(document: JsonObjectDocument): string | undefined {
  const ipam = memberValue(document, "ipam");
  const directory = isJsonObject(ipam) ? ipam["dataDir"] : undefined;
  return typeof directory === "string" && directory !== "" ? directory : undefined;
}

/** Runs the shadow and reports the comparison. Never throws, and takes at most `shadowMs`. */
async function runShadow(
  call: Call,
  chain: ChainIdentity,
  step: ChainStep,
  running: Step & { readonly dry: DryRun },
  shadowed: Shadowed & { readonly nativeText: string },
): Promise<void> {
  const { dry } = running;
  const { verb } = step;
  const { type, shadow } = shadowed;
  const tell = (outcome: ShadowOutcome, why: string, changes: readonly JsonChange[] = []): void =>
    tellShadow(call.events, chain, step, { verb, type, shadow, outcome, changes, why });
  const { stepMs } = call.deadline;
  if (stepMs < shadowMs * minTimes) return tell("skipped", `only ${Math.floor(stepMs)} ms are left for the call`);
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), shadowMs);
  try {
    const ended = await Promise.race([answerOf(call, running, shadow), late]);
    if (ended === undefined) return tell("skipped", `it did not end within ${shadowMs} ms`);
    if (!ended.ok && (ended.fault.notBegun === true || dry.unsupported.length > 0))
      return tell("refused", dry.unsupported.length > 0 ? `${dry.unsupported.join(", ")} can't be simulated` : ended.fault.msg);
    if (dry.isCut) return tell("refused", "it made too many changes to compare them");
    const difference = compared(step, shadowed, ended, dry);
    if (difference === undefined) return tell("match", "");
    const { attachment } = step;
    if (attachment !== undefined && dry.leases?.changedFor(attachment) === true)
      return tell("inconclusive", "leases of other pods changed meanwhile");
    tell("mismatch", difference.why, difference.changes);
  } catch (error) {
    // The native step has succeeded: if the shim has gone since, the next effect of the call says so.
    tell(
      "skipped",
      error instanceof ShimGone ? "the shim has gone" : `${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    clearTimeout(timer);
    dry.end();
  }
}

async function answerOf({ shim, delegates }: Call, running: Step, shadow: string): Promise<StepOutcome> {
  const found = await shim.find({ type: shadow, componentFirst: true });
  if (found.what === "component") return delegates.run(running, found);
  const why = `no component "${shadow}" is on CNI_PATH`;
  return { ok: false, fault: { ...fault("PLUGIN_NOT_FOUND", why), notBegun: true } };
}

interface Difference {
  readonly changes: readonly JsonChange[];
  readonly why: string;
}

/** The difference between both answers; undefined if there is none. */
function compared(
  { verb, stdin }: ChainStep,
  { role, nativeText }: Shadowed & { readonly nativeText: string },
  ended: StepOutcome,
  dry: DryRun,
): Difference | undefined {
  if (!ended.ok) return { changes: [], why: `the native plugin succeeded, and the shadow failed: ${failureText(ended.fault)}` };
  const effects = effectDifferences(dry.values);
  const native = verb === "ADD" ? resultOf(nativeText, stdin) : undefined;
  const shadow = verb === "ADD" ? resultOf(ended.stdout, stdin) : undefined;
  const results =
    native === undefined || shadow === undefined
      ? []
      : role === "ipam"
        ? ipamDifferences(native, shadow)
        : stepDifferences(native, shadow);
  const changes = [...results, ...effects];
  return changes.length === 0 ? undefined : { changes, why: "" };
}

function failureText({ code, msg }: Fault): string {
  return `code ${code}, ${msg}`;
}

/** The result in the shape of CNI 1.1.0; undefined if the text is none, which then fails the native step's chain. */
function resultOf(text: string, stdin: string): CniResult | undefined {
  const document = parseDocument(stdin, { what: "configuration" });
  const named = document.ok ? memberValue(document.value, "cniVersion") : undefined;
  const version = toVersion(typeof named === "string" ? named : "0.1.0");
  const read = version.ok ? readResult(text, version.value) : version;
  return read.ok ? read.value.result : undefined;
}
