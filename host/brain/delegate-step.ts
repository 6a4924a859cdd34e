// A step as a sandboxed delegate: read once, admitted, called with the capabilities that were granted.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { printVersionAnswer } from "../../src/cni/version-answer.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { DelegateGrants } from "../../src/configuration/wasm-configuration.ts";
import { closest } from "../../src/configuration/closest.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import type { Admission, AdmittedComponent } from "../sandbox/admission/admit.ts";
import type { Success } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type Limits, limitsOf } from "../sandbox/limits.ts";
import type { CapabilityImports, GuestRunner } from "../sandbox/runner.ts";
import type { ComponentFile, DelegateTerms } from "./step-runner.ts";
import { bindCapabilities, type CapabilityHost, type Delegating } from "./delegate-capabilities.ts";
import { PendingImports } from "./pending-imports.ts";
import { type DelegateCall, delegateCall, delegateFault, successText } from "./delegate-request.ts";

/** What it takes to run delegates. */
export interface DelegateHost extends CapabilityHost {
  readonly admission: Admission;
  readonly names: ComponentFileNames;
  readonly runner: GuestRunner;
  /** Reads a component's bytes. */
  readonly read: (path: string, cap: number) => Promise<Result<Uint8Array>>;
}

/** Under which name the admission knows what a file holds. */
export interface ComponentFileNames {
  /** Undefined where the file has to be read. */
  readonly known: (file: ComponentFile) => string | undefined;
  readonly learn: (file: ComponentFile, bytes: Uint8Array) => string;
}

/** For a brain of one call, which sees each file once. */
export const namedByFile: ComponentFileNames = {
  known: ({ path, identity }) => `${path}:${identity}`,
  learn: ({ path, identity }) => `${path}:${identity}`,
};

/** Runs one step in the component. */
export async function runDelegateStep(
  host: DelegateHost,
  configuration: Pick<HostConfiguration, "wasm">,
  step: ChainStep,
  file: ComponentFile,
  terms: DelegateTerms,
): Promise<StepOutcome> {
  const { type } = step.plugin;
  const component = await load(host, configuration, type, file);
  if (!component.ok) return no(component.fault);
  const { cniVersions } = component.value.declaration;
  if (step.verb === "VERSION") return { ok: true, stdout: printVersionAnswer(cniVersions) };

  const call = delegateCall(step);
  if (!call.ok) return no(call.fault);
  const { cniVersion, name } = networkOf(call.value);
  if (!cniVersions.includes(cniVersion)) {
    return no(
      fault("VERSION_UNSUPPORTED", `${type}: config is "${cniVersion}", the delegate supports ${cniVersions.join(", ")}`),
    );
  }
  const limits = limitsOf(configuration.wasm.limits);
  const { capabilities } = component.value;
  const forOthers = capabilities.includes("delegation") ? terms.stepTimeoutMs / shareOfCalled : 0;
  const deadlineMs = Math.min(limits.timeMs + importsMs + forOthers, terms.mostMs);
  const imports = await bindCapabilities(
    host,
    { step, network: name, grants: grantsOf(configuration, type), delegating: delegatingWithin(terms, deadlineMs) },
    capabilities,
  );
  const pending = new PendingImports();
  const answer = await callGuest(
    host.runner,
    component.value,
    call.value,
    { limits: { ...limits, timeMs: Math.min(limits.timeMs, terms.mostMs) }, deadlineMs },
    pending.watched(imports),
  );
  await pending.ended();
  if (!answer.ok) return no(delegateFault(type, answer.fault));
  if (answer.value === undefined) return { ok: true, stdout: "" };
  const printed = successText(answer.value, cniVersion);
  return printed.ok ? { ok: true, stdout: printed.value } : no(delegateFault(type, printed.fault));
}

function networkOf(call: DelegateCall): { readonly name: string; readonly cniVersion: string } {
  return call.verb === "status" ? call.request : call.request.network;
}

/** The guest's answer: a result for ADD, nothing for the others. */
async function callGuest(
  runner: GuestRunner,
  component: AdmittedComponent,
  call: DelegateCall,
  bounds: { readonly limits: Limits; readonly deadlineMs: number },
  imports: CapabilityImports,
): Promise<Result<Success | undefined>> {
  const terms = { component, ...bounds };
  switch (call.verb) {
    case "add":
      return valueOf(await runner.call({ ...terms, verb: "add", request: call.request }, imports));
    case "del":
    case "check":
      return valueOf(await runner.call({ ...terms, verb: call.verb, request: call.request }, imports));
    case "gc":
      return valueOf(await runner.call({ ...terms, verb: "gc", request: call.request }, imports));
    case "status":
      return valueOf(await runner.call({ ...terms, verb: "status", request: call.request }, imports));
    default:
      return call satisfies never;
  }
}

function valueOf<T>(answer: Result<{ readonly value: T }>): Result<T> {
  return answer.ok ? ok(answer.value.value) : answer;
}

/** Whether the component could run for this type: admitted, with what it is granted. */
export async function admitDelegate(
  host: DelegateHost,
  configuration: Pick<HostConfiguration, "wasm">,
  type: string,
  file: ComponentFile,
): Promise<Result<void>> {
  const loaded = await load(host, configuration, type, file);
  return loaded.ok ? ok(undefined) : loaded;
}

async function load(
  host: DelegateHost,
  configuration: Pick<HostConfiguration, "wasm">,
  type: string,
  file: ComponentFile,
): Promise<Result<AdmittedComponent>> {
  const limits = limitsOf(configuration.wasm.limits);
  const granted = Object.keys(grantsOf(configuration, type));
  const terms = { granted, limits };
  const known = host.names.known(file);
  let admitted = known === undefined ? undefined : host.admission.recall(known, terms);
  if (admitted === undefined) {
    const bytes = await host.read(file.path, limits.componentBytes);
    if (!bytes.ok) return bytes;
    admitted = host.admission.admit(bytes.value, terms, host.names.learn(file, bytes.value));
  }
  if (admitted.ok) return admitted;
  const where = admitted.fault.kind === "CAPABILITY_NOT_GRANTED" ? `; ${whereToGrant(configuration, type)}` : "";
  return failed({ ...admitted.fault, msg: `${type}: ${file.path}: ${admitted.fault.msg}${where}` });
}

/** The key that a grant would stand under, and the one that was perhaps meant for it. */
function whereToGrant({ wasm }: Pick<HostConfiguration, "wasm">, type: string): string {
  const types = Object.keys(wasm.grants);
  const key = `its grants stand under wasm.grants.${quote(type, 64)}`;
  if (types.includes(type)) return key;
  const meant = closest(type, types);
  return `${key}, which is not there${meant === undefined ? "" : `: was ${quote(meant, 64)} meant to be it?`}`;
}

function grantsOf({ wasm }: Pick<HostConfiguration, "wasm">, type: string): DelegateGrants {
  return (Object.hasOwn(wasm.grants, type) ? wasm.grants[type] : undefined) ?? wasm.otherGrants;
}

/**
 * A plugin that the delegate calls gets a part of what the delegate has left, so that the delegate hears when it didn't end in
 * time, and can have taken back what it began.
 */
function delegatingWithin({ callers, another }: DelegateTerms, deadlineMs: number): Delegating {
  const due = performance.now() + deadlineMs;
  return { callers, run: (step) => another(step, (due - performance.now()) * shareOfCalled) };
}

const shareOfCalled = 3 / 4;

/** What the host may take to answer a guest's imports, on top of the guest's own time. */
const importsMs = 15_000;

function no(reason: Fault): StepOutcome {
  return { ok: false, fault: reason };
}
