// What libcni does with a list for each verb (L-39..L-43), as generators: they yield plugin calls and are resumed with how
// these ended. They touch nothing, so the one runner of native and WASM steps interprets them, and tests need no mocks.

import { type Fault, fault } from "../fault/fault.ts";
import type { Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { printCniArgs } from "./args.ts";
import { checkAttachment, checkPrintable } from "./attachment.ts";
import type { AttachmentContext, Chain, ChainContext, ChainResult, ChainStep } from "./chain-step.ts";
import { convertResult } from "./convert-result.ts";
import { stepEnvironment, type Verb } from "./environment.ts";
import type { PluginConf } from "./network-list.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { attachmentStdin, statusStdin } from "./step-request.ts";
import { toVersion, versionAtLeast } from "./versions.ts";

export function chainFailed(reason: Fault, failedStep?: number): { ok: false; fault: Fault; failedStep: number | undefined } {
  return { ok: false, fault: reason, failedStep };
}

/** `type="bridge" name="x"`, as libcni describes a plugin in its messages. */
export function describePlugin(plugin: PluginConf): string {
  return plugin.name === "" ? `type=${quote(plugin.type)}` : `type=${quote(plugin.type)} name=${quote(plugin.name)}`;
}

/** The plugin's own fault, its code and kind kept, with the plugin named in front. */
export function wrapFault(reason: Fault, front: string): Fault {
  return { ...reason, msg: `${front}: ${reason.msg}` };
}

function attachmentStep(
  context: AttachmentContext,
  verb: Verb,
  index: number,
  plugin: PluginConf,
  prevResult: PluginResult | undefined,
): ChainStep {
  const { list, attachment, path, inherited, capabilities } = context;
  const { containerId, ifname, netns } = attachment;
  const call = { verb, containerId, netns, ifname, args: printCniArgs(attachment.args), path };
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

/** A step of GC, STATUS or VERSION: the variables of an attachment are there and empty (L-09). */
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
 * ADD: plugins in order, each given the previous one's result as that one printed it, the first one `previous`; the first failure stops the chain and
 * nothing is undone here: the caller runs `delChain` (L-39). Answers the last plugin's result, in the version it chose.
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
    const outcome = yield attachmentStep(context, "ADD", index, plugin, result);
    const read = outcome.ok ? readResult(outcome.stdout, version.value) : outcome;
    if (!read.ok) return chainFailed(wrapFault(read.fault, `plugin ${describePlugin(plugin)} failed (add)`), index);
    result = read.value;
  }
  if (result === undefined) return chainFailed(fault("INTERNAL", "a chain of plugins ended without a result"));
  return { ok: true, value: result };
}

/** The cached result in the list's version (L-26): undefined where there is none, or where the version is before 0.4.0. */
function previousResult(context: AttachmentContext, cached: string | undefined): Result<PluginResult | undefined> {
  const { list } = context;
  const passes = versionAtLeast(list.cniVersion, "0.4.0");
  if (!passes.ok) return passes;
  if (!passes.value || cached === undefined) return { ok: true, value: undefined };
  // A cached result that names no version is one of 0.1.0: only a plugin's own answer takes the configuration's (L-12).
  const read = readResult(cached, "0.1.0", `cached result of network ${quote(list.name)}`);
  return read.ok ? convertResult(read.value, list.cniVersion) : read;
}

export interface DelOutcome {
  /** Why the cached result was not usable; the chain ran without a previous result then (L-40). */
  readonly unusableResult: Fault | undefined;
}

/**
 * DEL: plugins in reverse order; the first failure stops the chain, so that the next DEL starts from the same state (L-40, D-4).
 * `cached` is the text of the attachment's final result, where it is known. The names are not checked: what was once added
 * must stay removable (L-04).
 */
export function* delChain(context: AttachmentContext, cached: string | undefined): Chain<DelOutcome> {
  const { list } = context;
  const printable = checkPrintable(context.attachment);
  if (!printable.ok) return chainFailed(printable.fault);
  const previous = previousResult(context, cached);
  const result = previous.ok ? previous.value : undefined;
  for (const [index, plugin] of [...list.plugins.entries()].toReversed()) {
    const outcome = yield attachmentStep(context, "DEL", index, plugin, result);
    if (!outcome.ok) return chainFailed(wrapFault(outcome.fault, `plugin ${describePlugin(plugin)} failed (delete)`), index);
  }
  return { ok: true, value: { unusableResult: previous.ok ? undefined : previous.fault } };
}

/**
 * CHECK: plugins in order, each given the cached final result; the first failure stops the chain. Fault before any step:
 * VERSION_UNSUPPORTED (1) for a list before 0.4.0. `disableCheck` is success without a step (L-41).
 */
export function* checkChain(context: AttachmentContext, cached: string | undefined): Chain<void> {
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
    const outcome = yield attachmentStep(context, "CHECK", index, plugin, previous.value);
    if (!outcome.ok) return chainFailed(wrapFault(outcome.fault, `plugin ${describePlugin(plugin)} failed (check)`), index);
  }
  return done();
}

/** STATUS: plugins in order; the first failure is answered as the plugin gave it, so that codes 50 and 51 survive (L-42). */
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
