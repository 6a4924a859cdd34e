// libcni's handling of a list for each verb (L-39..L-43), as generators: they yield plugin calls and are resumed with the
// outcomes. They do no I/O, so one runner serves native and WASM steps, and tests need no mocks.

import { type Fault, fault, joinFaults, isRefusal } from "../fault/fault.ts";
import type { Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { withoutStepSecrets } from "../text/secret-values.ts";
import { checkAttachment, checkPrintable } from "./attachment.ts";
import type { AttachmentContext, Chain, ChainContext, ChainResult, ChainStep, StepOutcome } from "./chain-step.ts";
import { convertResult } from "./convert-result.ts";
import { stepEnvironment, type Verb } from "./environment.ts";
import { type FailedStep, mayPassOver, type PassedOverStep, wasNeverBegun } from "./failed-step.ts";
import type { PluginConf } from "./network-list.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { attachmentStdin, statusStdin } from "./step-request.ts";
import { toVersion, versionAtLeast } from "./versions.ts";

/** A chain's failure; `failedStep` is the index of the failed step. */
export function chainFailed(reason: Fault, failedStep?: number): { ok: false; fault: Fault; failedStep: number | undefined } {
  return { ok: false, fault: reason, failedStep };
}

/** `type="bridge" name="x"`: libcni's description of a plugin in messages. */
export function describePlugin(plugin: PluginConf): string {
  return plugin.name === "" ? `type=${quote(plugin.type)}` : `type=${quote(plugin.type)} name=${quote(plugin.name)}`;
}

/** The plugin's own fault with the plugin's name prefixed; code and kind are kept. */
export function wrapFault(reason: Fault, front: string): Fault {
  return { ...reason, msg: `${front}: ${reason.msg}` };
}

/** The step of one plugin for an attachment. */
export function attachmentStep(
  context: AttachmentContext,
  verb: Verb,
  index: number,
  plugin: PluginConf,
  prevResult: PluginResult | undefined,
): ChainStep {
  const { list, attachment, path, inherited, capabilities } = context;
  const { containerId, ifname, netns } = attachment;
  const call = { verb, containerId, netns, ifname, args: attachment.args, path };
  return {
    index,
    plugin,
    verb,
    stdin: attachmentStdin(list, plugin, prevResult?.text, attachment.capabilityArgs, capabilities),
    env: stepEnvironment(call, inherited),
    prevResult,
    attachment: { containerId, ifname },
  };
}

/** A step of GC, STATUS or VERSION. The variables of an attachment are set and empty (L-09). */
export function networkStep(context: ChainContext, verb: Verb, index: number, plugin: PluginConf, stdin: string): ChainStep {
  const call = { verb, containerId: "", netns: "", ifname: "", args: "", path: context.path };
  return {
    index,
    plugin,
    verb,
    stdin,
    env: stepEnvironment(call, context.inherited),
    prevResult: undefined,
    attachment: undefined,
  };
}

/**
 * ADD: plugins in order. Each gets the previous plugin's printed result; the first gets `previous`. The first failure stops the
 * chain. Nothing is undone here: the caller runs `delChain` (L-39). Answers the last plugin's result in the version that this
 * plugin chose.
 */
export function* addChain(context: AttachmentContext): Chain<PluginResult> {
  const { list } = context;
  const checked = checkAttachment(context.attachment);
  if (!checked.ok) return chainFailed(checked.fault);
  const version = toVersion(list.cniVersion);
  if (!version.ok) return chainFailed(version.fault);
  if (list.plugins.length === 0) return chainFailed(fault("CONFIG_INVALID", `network ${quote(list.name)} has no plugins`));
  let result = context.previous;
  for (const [index, plugin] of list.plugins.entries()) {
    const step = attachmentStep(context, "ADD", index, plugin, result);
    const outcome = yield step;
    // The first step is never passed over, so there is a result.
    if (outcome.ok && outcome.passedOver === true && result !== undefined) continue;
    const silent = outcome.ok && context.withoutResult !== undefined && outcome.stdout.trim() === "";
    if (silent) context.withoutResult(plugin);
    if (silent && result !== undefined) continue;
    const read = outcome.ok ? readResult(silent ? "{}" : outcome.stdout, version.value) : outcome;
    if (!read.ok) {
      // The runner has removed the secrets from a failed step's fault. The fault of an unreadable result quotes the plugin's output.
      const reason = outcome.ok ? withoutStepSecrets(read.fault, step) : read.fault;
      return chainFailed(wrapFault(reason, `plugin ${describePlugin(plugin)} failed (add)`), index);
    }
    result = read.value;
  }
  if (result === undefined) return chainFailed(fault("INTERNAL", "the plugin chain ended without a result"));
  return { ok: true, value: result };
}

/** The cached result in the list's version (L-26). Undefined if there is none, or if the version is older than 0.4.0. */
export function previousResult(context: AttachmentContext, cached: string | undefined): Result<PluginResult | undefined> {
  const { list } = context;
  const passes = versionAtLeast(list.cniVersion, "0.4.0");
  if (!passes.ok) return passes;
  if (!passes.value || cached === undefined) return { ok: true, value: undefined };
  // A cached result without a version is of 0.1.0: only a plugin's own output takes the configuration's version (L-12).
  const read = readResult(cached, "0.1.0", `cached result of network ${quote(list.name)}`);
  return read.ok ? convertResult(read.value, list.cniVersion) : read;
}

/** The input of a DEL about steps whose failure does not stop the chain. */
export interface DelTolerance {
  /** The steps that the attachment's ADD passed over. */
  readonly passedOver: readonly PassedOverStep[];
  /** Whether the chain goes on after this step's failure, by the step's rule. */
  readonly goesOn: (step: ChainStep, failure: Fault) => boolean;
  /** Whether this failure of a step counts as success, because a runtime would not execute the step. */
  readonly leavesOut: (step: ChainStep, failure: Fault) => boolean;
}

const noTolerance: DelTolerance = { passedOver: [], goesOn: () => false, leavesOut: () => false };

/** The value of a successful DEL. */
export interface DelOutcome {
  /** Why the cached result was not usable. The chain then ran without a previous result (L-40). */
  readonly unusableResult: Fault | undefined;
}

/**
 * DEL: plugins in reverse order. The first failure stops the chain, so that the next DEL starts from the same state (L-40, D-04).
 * A step that is refused for its version or its grant, that can't be started, or that never succeeded in ADD, stops no other: it will fail each
 * time. The fault has the messages of all failures. A step that was refused, or not begun, in ADD and in DEL has nothing to undo.
 * Neither has a step that ADD passed over and undid: its DEL runs once more, and may fail. `tolerance` says which further failures stop no
 * other step; they are reported like all others.
 * `cached` is the text of the attachment's final result, if known; `failedAdd` is its ADD's failure. The names are not checked: an
 * attachment that was added must stay removable (L-04).
 */
export function* delChain(
  context: AttachmentContext,
  cached: string | undefined,
  failedAdd?: FailedStep,
  { passedOver, goesOn, leavesOut }: DelTolerance = noTolerance,
): Chain<DelOutcome> {
  const { list } = context;
  const printable = checkPrintable(context.attachment);
  if (!printable.ok) return chainFailed(printable.fault);
  const previous = previousResult(context, cached);
  const result = previous.ok ? previous.value : undefined;
  const faults: Fault[] = [];
  let firstFailed: number | undefined;
  let neverAttached = true;
  let noneBegun = true;
  for (const [index, plugin] of [...list.plugins.entries()].toReversed()) {
    const step = attachmentStep(context, "DEL", index, plugin, result);
    const outcome = yield step;
    if (outcome.ok) continue;
    const earlier = passedOver.find((each) => each.step === index);
    if (earlier?.cleaned === true || leavesOut(step, outcome.fault)) continue;
    const [refused, passable] = [isRefusal(outcome.fault), mayPassOver(failedAdd, index, outcome.fault)];
    if ((refused && passable) || wasNeverBegun(failedAdd, index, outcome.fault)) continue;
    const begun = outcome.fault.notBegun !== true;
    noneBegun &&= !begun;
    faults.push(wrapFault(outcome.fault, `plugin ${describePlugin(plugin)} failed (delete)`));
    firstFailed ??= index;
    neverAttached &&= passable;
    if (begun && !refused && !passable && earlier === undefined && !goesOn(step, outcome.fault)) break;
  }
  const failure = joinFaults(faults);
  if (failure !== undefined) return { ...chainFailed(failure, firstFailed), neverAttached, noneBegun };
  return { ok: true, value: { unusableResult: previous.ok ? undefined : previous.fault } };
}

/**
 * CHECK: plugins in order, each with the cached final result; the first failure stops the chain. Fault before any step:
 * VERSION_UNSUPPORTED (1) for a list older than 0.4.0. With `disableCheck` CHECK succeeds without a step (L-41). `passedOver`: the steps that
 * ADD passed over. They attached nothing, so they are not checked. `leavesOut`: as in DEL.
 */
export function* checkChain(
  context: AttachmentContext,
  cached: string | undefined,
  passedOver: readonly PassedOverStep[] = [],
  leavesOut: DelTolerance["leavesOut"] = noTolerance.leavesOut,
): Chain<void> {
  const { list } = context;
  const checked = checkAttachment(context.attachment);
  if (!checked.ok) return chainFailed(checked.fault);
  const speaks = versionAtLeast(list.cniVersion, "0.4.0");
  if (!speaks.ok) return chainFailed(speaks.fault);
  if (!speaks.value) {
    const msg = `configuration version ${quote(list.cniVersion)} does not support the CHECK command`;
    return chainFailed(fault("VERSION_UNSUPPORTED", msg));
  }
  if (list.disableCheck) return done();
  const previous = previousResult(context, cached);
  if (!previous.ok) return chainFailed(wrapFault(previous.fault, `failed to get network ${quote(list.name)} cached result`));
  for (const [index, plugin] of list.plugins.entries()) {
    if (passedOver.some(({ step }) => step === index)) continue;
    const step = attachmentStep(context, "CHECK", index, plugin, previous.value);
    const outcome = yield step;
    if (!outcome.ok && !leavesOut(step, outcome.fault))
      return chainFailed(wrapFault(outcome.fault, `plugin ${describePlugin(plugin)} failed (check)`), index);
  }
  return done();
}

/** STATUS: plugins in order. The first failure is answered unchanged, so that codes 50 and 51 survive (L-42). */
export function* statusChain(context: ChainContext): Chain<void> {
  const { list } = context;
  const speaks = versionAtLeast(list.cniVersion, "1.1.0");
  if (!speaks.ok || !speaks.value) return done();
  for (const [index, plugin] of list.plugins.entries()) {
    const outcome = yield networkStep(context, "STATUS", index, plugin, statusStdin(list, plugin, context.capabilities));
    if (!outcome.ok) return chainFailed(outcome.fault, index);
  }
  return done();
}

function done(): ChainResult<void> {
  return { ok: true, value: undefined };
}

/** Runs one step. Never rejects for a plugin's failure: that is a fault of the outcome. */
export interface RunStep {
  (step: ChainStep): Promise<StepOutcome>;
  /** Receives the fault of a chain that ended, or undefined if the chain succeeded. */
  readonly ended?: (fault: Fault | undefined) => void;
}

/** Runs the steps of `chain` one after the other. Answers the chain's own result. */
export async function runChain<T>(chain: Chain<T>, run: RunStep): Promise<ChainResult<T>> {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(await run(turn.value));
  run.ended?.(turn.value.ok ? undefined : turn.value.fault);
  return turn.value;
}
