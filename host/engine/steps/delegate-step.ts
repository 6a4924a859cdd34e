// Runs a step in a sandboxed component: reads and admits the component, and calls it with the granted capabilities.

import type { StepOutcome } from "../../../src/cni/chain-step.ts";
import { printVersionAnswer } from "../../../src/cni/version-answer.ts";
import { closest } from "../../../src/configuration/closest.ts";
import { refusedChange } from "../../../src/configuration/result-changes.ts";
import { grantedCapabilities } from "../../../src/configuration/keys/grant-keys.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { wasmDisabled } from "../../../src/configuration/wasm-disabled.ts";
import { type Fault, fault, neverBegun } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { bindCapabilities } from "../../capabilities/bind.ts";
import type { DelegateHost } from "../../capabilities/delegate-host.ts";
import { shadowRefusal } from "../../capabilities/dry/dry-run.ts";
import type { Step } from "../../capabilities/step.ts";
import type { Success } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { successText } from "../../sandbox/abi/success-record.ts";
import type { AdmittedComponent } from "../../sandbox/admission/admit.ts";
import { type ComponentFile, readComponentFile } from "../../sandbox/component-file.ts";
import { limitsOf } from "../../sandbox/limits.ts";
import { demandOn } from "../../sandbox/provenance/component-demands.ts";
import { signaturesBeside } from "../../sandbox/provenance/read-signatures.ts";
import type { CallReport } from "../../sandbox/linker/call.ts";
import type { CapabilityImports, GuestRunner, GuestTerms } from "../../sandbox/runner.ts";
import type { Clock } from "../../system/clock.ts";
import { podNamespace } from "../../../src/kube/pod-identity.ts";
import type { DelegateRunner, GrantedDelegate } from "../../capabilities/delegate-runner.ts";
import { type DelegateCall, delegateCall, delegateFault, versionFault } from "./delegate-request.ts";
import { withPool } from "./pool-step.ts";
import { PendingImports, toldImports } from "./delegate-imports.ts";

/** Makes the runner of one call's delegates. */
export function delegateRunner(host: DelegateHost): DelegateRunner {
  return {
    run: (running, file) => runDelegateStep(host, running, file),
    admit: async (delegate, file, cniVersion) => {
      const { type } = delegate;
      const loaded = await load(host, delegate, file);
      if (!loaded.ok) return loaded;
      const unsupported = versionFault(type, loaded.value.declaration, cniVersion);
      return unsupported === undefined ? ok(undefined) : failed(unsupported);
    },
  };
}

/** Runs one step in the component. Faults: those of admission and limits, and the delegate's own. */
export async function runDelegateStep(host: DelegateHost, asked: Step, file: ComponentFile): Promise<StepOutcome> {
  const { tell, grants } = asked;
  const { plugin, verb } = asked.step;
  const { type } = plugin;
  if (tell !== undefined) await tellComponent(host, tell, asked, file);
  const component = await load(host, { type, grants, definition: asked.definition }, file);
  if (!component.ok) return failedStep(neverBegun(component.fault));
  if (verb === "VERSION") return { ok: true, stdout: printVersionAnswer(component.value.declaration.cniVersions) };
  const prepared = await prepare(host, asked, component.value);
  if (!prepared.ok) return failedStep(neverBegun(prepared.fault));
  const answer = await callPrepared(host, component.value, prepared.value);
  if (!answer.ok) return failedStep(answer.fault);
  if (answer.value === undefined) return { ok: true, stdout: "" };
  const { request } = prepared.value.call;
  const before = "prevResult" in request ? request.prevResult : undefined;
  const refused = refusedChange(type, grants, before, answer.value);
  if (refused !== undefined) return failedStep(refused);
  const printed = successText(answer.value, request.network.cniVersion);
  return printed.ok ? { ok: true, stdout: printed.value } : failedStep(delegateFault(type, printed.fault));
}

/** A step that its component can run. */
interface PreparedStep {
  /** The step with its pool, and with the network's name that the delegate reads on stdin. */
  readonly running: Step;
  readonly call: DelegateCall;
  /** Milliseconds until the component is ended. */
  readonly deadlineMs: number;
}

/** Makes the call of a step. Faults: SHADOW_UNSUPPORTED, VERSION_UNSUPPORTED, and those of the step's pool and configuration. */
async function prepare(
  host: DelegateHost,
  asked: Step,
  { capabilities, declaration, ungranted }: AdmittedComponent,
): Promise<Result<PreparedStep>> {
  const { timeoutMs, maxMs } = asked;
  const { type } = asked.step.plugin;
  const notShadow = asked.dry === undefined ? undefined : shadowRefusal(type, capabilities);
  if (notShadow !== undefined) return failed(notShadow);
  const pooled = await withPool(host, asked, capabilities, ungranted);
  if (!pooled.ok) return pooled;
  const delegatedMs = capabilities.includes("delegation") ? timeoutMs / delegatedShare : 0;
  const deadlineMs = Math.min(limitsOf(host.wasm.limits).timeMs + importsMs + delegatedMs, maxMs);
  const remainingMs = Math.min(0xffff_ffff, Math.max(0, Math.floor(deadlineMs)));
  const call = delegateCall(pooled.value.step, { remainingMs, granted: capabilities });
  if (!call.ok) return call;
  const { cniVersion, name } = call.value.request.network;
  const unsupported = versionFault(type, declaration, cniVersion);
  if (unsupported !== undefined) return failed(unsupported);
  // Capabilities use the network's name on the step's stdin, as the delegate does.
  return ok({ running: { ...pooled.value, network: name }, call: call.value, deadlineMs });
}

/** Calls the component with its capabilities, and waits for the work of its imports. Faults: those of the component; CALL_TIMEOUT. */
async function callPrepared(
  host: DelegateHost,
  component: AdmittedComponent,
  { running, call, deadlineMs }: PreparedStep,
): Promise<Result<Success | undefined>> {
  const { step, maxMs, tell, dry, definition } = running;
  const { capabilities } = component;
  const limits = limitsOf(host.wasm.limits);
  const bound = withinDeadline(running, deadlineMs, host.clock);
  const imports = host.bindRecorded?.(bound, capabilities) ?? (await bindCapabilities(host, bound, capabilities));
  const bounds = {
    limits: { ...limits, timeMs: Math.min(limits.timeMs, maxMs) },
    deadlineMs,
    source: definition?.namespace ?? "",
    namespace: podNamespace(step.env.find(([variable]) => variable === "CNI_ARGS")?.[1] ?? ""),
    isLast: dry !== undefined,
  };
  const pending = new PendingImports();
  const watched = pending.watched(tell === undefined ? imports : toldImports(imports, tell));
  const started = host.clock.now();
  const answer = await callGuest(host.runner, component, call, bounds, watched, tell);
  await pending.ended();
  if (answer.ok) return answer;
  const { type } = step.plugin;
  const isLate = answer.fault.kind === "LIMIT_TIME" && host.clock.now() - started >= maxMs - toleranceMs;
  return failed(isLate ? callTimeout(type, maxMs) : delegateFault(type, answer.fault));
}

/** The guest's answer: a result for ADD, undefined for the other verbs. */
async function callGuest(
  runner: GuestRunner,
  component: AdmittedComponent,
  call: DelegateCall,
  bounds: GuestTerms,
  imports: CapabilityImports,
  tell: Step["tell"],
): Promise<Result<Success | undefined>> {
  const terms = { component, ...bounds };
  switch (call.verb) {
    case "add":
      return valueOf(await runner.call({ ...terms, verb: "add", request: call.request }, imports), tell);
    case "del":
    case "check":
      return valueOf(await runner.call({ ...terms, verb: call.verb, request: call.request }, imports), tell);
    case "gc":
      return valueOf(await runner.call({ ...terms, verb: "gc", request: call.request }, imports), tell);
    case "status":
      return valueOf(await runner.call({ ...terms, verb: "status", request: call.request }, imports), tell);
    default:
      return call satisfies never;
  }
}

function valueOf<T>(answer: Result<{ readonly value: T; readonly report: CallReport }>, tell: Step["tell"]): Result<T> {
  if (!answer.ok) return answer;
  const { value, report } = answer.value;
  const { memoryBytes, inputBytes, outputBytes, totalUs } = report;
  tell?.({ what: "guest-ended", usage: { memoryBytes, inputBytes, outputBytes, guestMs: totalUs / 1000 } });
  return ok(value);
}

/** Tells which component runs. A one-shot engine names a component by its path, so its bytes are read for their digest. */
async function tellComponent(
  { componentNames, shim, wasm }: DelegateHost,
  tell: NonNullable<Step["tell"]>,
  { grants }: Step,
  file: ComponentFile,
): Promise<void> {
  const { limits } = wasm;
  const known = componentNames.known(file);
  let digest = known?.startsWith("sha256:") === true ? known : "";
  if (digest === "") {
    const bytes = await readComponentFile(shim, file.path, limitsOf(limits).componentBytes);
    // Loaded when needed: node:crypto takes time to load.
    const { nameOf } = await import("../../sandbox/component-names.ts");
    if (bytes.ok) digest = nameOf(bytes.value);
  }
  tell({ what: "component-chosen", path: file.path, digest, grants, limits });
}

/** The admitted component of a file, read only if its content is not known yet. What the type's grants demand of it is checked first. */
async function load(host: DelegateHost, delegate: GrantedDelegate, file: ComponentFile): Promise<Result<AdmittedComponent>> {
  const { type, grants } = delegate;
  const { wasm, admission, componentNames, demands, shim } = host;
  if (!wasm.enabled) return failed(wasmDisabled(type, file.path));
  const limits = limitsOf(wasm.limits);
  const terms = { granted: grantedCapabilities(grants), limits };
  const demand = demandOn(wasm, type);
  const known = componentNames.known(file);
  const isMet = demand === undefined || (known !== undefined && demands.isMet(known, demand, wasm));
  let admitted = known === undefined || !isMet ? undefined : admission.recall(known, terms);
  if (admitted === undefined) {
    const bytes = await readComponentFile(shim, file.path, limits.componentBytes);
    if (!bytes.ok) return bytes;
    const name = componentNames.learn(file, bytes.value);
    // The same bytes may have met the demand under another path or time stamp.
    if (demand !== undefined && !demands.isMet(name, demand, wasm)) {
      const signatures = () => signaturesBeside(shim, file.path);
      const met = await demands.check({ name, bytes: bytes.value, signatures }, demand, wasm);
      if (!met.ok) return failed({ ...met.fault, msg: `${type}: ${file.path}: ${met.fault.msg}` });
    }
    admitted = await admission.admit(bytes.value, terms, name);
  }
  if (admitted.ok) return admitted;
  const where = admitted.fault.kind === "CAPABILITY_NOT_GRANTED" ? `; ${whereToGrant(wasm, delegate)}` : "";
  return failed({ ...admitted.fault, msg: `${type}: ${file.path}: ${admitted.fault.msg}${where}` });
}

/** The configuration key for the type's grants, with the most similar existing key if that key is missing. */
function whereToGrant({ grants }: WasmConfiguration, { type, definition }: GrantedDelegate): string {
  if (definition !== undefined)
    return `the grants of definitions in namespace ${definition.namespace} are in grants.${quote(type, 64)} of a rule in definitions.rules`;
  const types = Object.keys(grants);
  const key = `wasm.grants.${quote(type, 64)}`;
  if (types.includes(type)) return `its grants are in ${key}`;
  const similar = closest(type, types);
  return `its grants belong in ${key}, which does not exist${similar === undefined ? "" : `; is ${quote(similar, 64)} a misspelling of it?`}`;
}

/**
 * The step with its delegated plugins bounded by its deadline. Each plugin gets a part of the remaining time, so that the delegate
 * learns of a slow plugin in time to call the plugin's DEL.
 */
function withinDeadline(running: Step, deadlineMs: number, { now }: Clock): Step {
  const due = now() + deadlineMs;
  return {
    ...running,
    runDelegated: (step, maxMs) => running.runDelegated(step, Math.min(maxMs, (due - now()) * delegatedShare)),
  };
}

/** The share of a delegate's remaining time that one delegated plugin gets. */
const delegatedShare = 3 / 4;

/** Milliseconds by which a timer may fire early. */
const toleranceMs = 2;

/** The fault of a component that the call's deadline, or that of its caller, has ended: with more time it might have succeeded. */
function callTimeout(type: string, maxMs: number): Fault {
  return fault("CALL_TIMEOUT", `${type}: the component did not end within the call's remaining time, ${maxMs} ms, and was ended`);
}

/** Milliseconds for the host's answers to imports, in addition to the guest's own computing time. */
const importsMs = 15_000;

function failedStep(reason: Fault): StepOutcome {
  return { ok: false, fault: reason };
}
