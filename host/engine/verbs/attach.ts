// Attaches one network: runs its chain, notes each step's outcome in the journal, and checks the result against the selection.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { addChain, describePlugin, runChain, type RunStep } from "../../../src/cni/chains.ts";
import { type FailedStep, failedStepOf, type PassedOverStep } from "../../../src/cni/failed-step.ts";
import type { PluginConf } from "../../../src/cni/network-list.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { located } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { conflictText } from "../../../src/net/conflict-text.ts";
import { type DeviceInfo, deviceInfoOf } from "../../../src/npwg/device-info.ts";
import { verifyPool, verifyResult } from "../../../src/npwg/verification.ts";
import type { PoolLease } from "../../capabilities/step.ts";
import { prepareDeviceInfo, readDeviceInfoFile } from "../../cluster/device-info/device-info-file.ts";
import type { Call, ChainIdentity } from "../call.ts";
import type { CallDeadline } from "../../../src/step-policy/call-deadline.ts";
import type { Attached, AttachmentPlan } from "../planned/attachment-plan.ts";
import type { Progress } from "../record/record-add.ts";

/** The place of an attachment in its ADD. */
export interface AttachmentPlace {
  /** The index in the journal's plan. */
  readonly index: number;
  /** Whether the pod has a link with the attachment's interface name already. */
  readonly isNameTaken: boolean;
  /** Queues an Event about the pod. */
  readonly tell: (event: PodEvent) => void;
}

/**
 * Attaches one network of the journal's plan, which is written before the first step. Fault: the failing plugin's own, with the attachment named; the
 * attachment is then attempted and not undone.
 */
export async function attach(
  call: Call,
  plan: AttachmentPlan,
  place: AttachmentPlace,
  progress: Progress,
): Promise<Result<Attached>> {
  const { index } = place;
  const { attachment, list, previous, source } = plan;
  const noted = await noteAttempt(plan, index, progress);
  if (!noted.ok) return noted;
  const prepared = prepareDevice(call, plan);
  if (!prepared.ok) return failed(located(prepared.fault, source, attachment.ifname));
  // The runtime needs the default network's result. The results of the others are only for the network status (NPWG 5.1.1).
  const withoutResult = index === 0 ? undefined : (plugin: PluginConf): void => call.warn(noResult(plan, plugin));
  const chain = addChain({ list, path: call.request.path, inherited: call.inherited, attachment, previous, withoutResult });
  const poolLeases: PoolLease[] = [];
  const run = call.runStep({ ...observedChain(plan, place, progress), onPoolLease: (lease) => void poolLeases.push(lease) });
  const steps = watchFailure(run, call.deadline);
  const ended = await runChain(chain, steps.run);
  if (!ended.ok) {
    const failedStep = steps.failed();
    if (failedStep !== undefined) await progress.note({ addFailed: index, ...failedStep });
    return failed(located(ended.fault, source, attachment.ifname));
  }
  void progress.note({ attached: index, result: ended.value.text });
  const verified = verifyRequest(plan, ended.value.result, poolLeases);
  if (!verified.ok) return failed(located(verified.fault, source, attachment.ifname));
  progress.writeLater(() => call.cache.write(plan, ended.value));
  return ok({ plan, result: ended.value, deviceInfo: deviceOf(call, plan, ended.value.result) });
}

/** Notes in the journal that the attachment's first step is about to run. Fault: STORE_FAILED. */
async function noteAttempt({ request }: AttachmentPlan, index: number, progress: Progress): Promise<Result<void>> {
  // An attachment that only the plan knows must not begin before the plan is on the disk. The configured default network can begin
  // earlier, because a DEL undoes it even without a journal entry: its first step need not wait for the disk.
  if (index === 0 && request === undefined) {
    // The sync starts after the request of the first step, so that it does not delay that step.
    progress.writeLater(() => progress.syncPlan());
    return ok(undefined);
  }
  const synced = await progress.syncPlan();
  if (!synced.ok) return synced;
  // The plan is written with its first attachment marked as attempted.
  return index === 0 ? ok(undefined) : progress.note({ attempted: index });
}

/** The attachment's chain. What its steps report goes into the journal and into Events of the pod. */
function observedChain(plan: AttachmentPlan, { index, isNameTaken, tell }: AttachmentPlace, progress: Progress): ChainIdentity {
  const { list, binding, attachment } = plan;
  const { ifname } = attachment;
  return {
    network: list.name,
    ifname,
    definition: binding?.definition,
    isNameTaken,
    onPassedOver: (step) => {
      void progress.note({ passedOver: index, ...step });
      tell({ reason: "StepPassedOver", message: passedOverText(plan, step) });
    },
    onConflict: ({ address, mac }) =>
      tell({ reason: "AddressConflict", message: conflictText({ network: list.name, ifname, address, mac }) }),
  };
}

/** Fault REQUEST_UNMET. */
function verifyRequest(
  { request, source, attachment }: AttachmentPlan,
  result: CniResult,
  poolLeases: readonly PoolLease[],
): Result<void> {
  if (request === undefined) return ok(undefined);
  const { selection, verification, pool } = request;
  const verified = verifyResult(selection, attachment.ifname, result, verification);
  if (!verified.ok || pool === undefined) return verified;
  const addresses = poolLeases.filter((lease) => lease.pool === pool).map(({ address }) => address);
  return verifyPool(source, pool, addresses, result);
}

/** Runs steps as `run` does, each in its share of the time, and remembers the step that failed and, by its error, attached nothing. */
function watchFailure(
  run: RunStep,
  deadline: CallDeadline,
): { readonly run: RunStep; readonly failed: () => FailedStep | undefined } {
  let failedStep: FailedStep | undefined;
  const noting = async (step: ChainStep): Promise<StepOutcome> => {
    deadline.beginStep();
    const outcome = await run(step);
    failedStep = outcome.ok ? undefined : failedStepOf(step.index, outcome.fault);
    return outcome;
  };
  const { ended } = run;
  return { run: ended === undefined ? noting : Object.assign(noting, { ended }), failed: () => failedStep };
}

function passedOverText({ source, list, attachment }: AttachmentPlan, { step, msg }: PassedOverStep): string {
  const type = list.plugins[step]?.type ?? "";
  return `${attachment.ifname} from ${source}: plugin ${type} failed and was passed over: ${msg}`;
}

function noResult({ source, attachment }: AttachmentPlan, plugin: PluginConf): string {
  const why = `plugin ${describePlugin(plugin)} exited 0 but printed no result, so the network status shows no addresses of it`;
  return `network ${source} as ${attachment.ifname}: ${why}. Report this to the plugin's author: CNI section 5 requires a result.`;
}

// Plexus and the plugins exchange the description of an attachment's device by a file (Device Information Specification).

/**
 * Makes the file's directory before the chain runs. The first content is what the device plugin has published about the device.
 * Fault: STORE_FAILED.
 */
function prepareDevice({ warn }: Call, { deviceInfo }: AttachmentPlan): Result<void> {
  if (deviceInfo === undefined) return ok(undefined);
  return prepareDeviceInfo(deviceInfo, (cause) =>
    warn(`${cause.msg}; the attachment's device information file is not prefilled`),
  );
}

/**
 * The device information after the chain: from the file, otherwise from the result; undefined if neither has any. An unusable file
 * causes a warning and no failure, because only the pod's network status needs the information.
 */
function deviceOf({ warn }: Call, { deviceInfo, source }: AttachmentPlan, result: CniResult): DeviceInfo | undefined {
  const read = deviceInfo === undefined ? ok(undefined) : readDeviceInfoFile(deviceInfo.path);
  if (!read.ok) warn(`network ${source}: ${read.fault.msg}; the network status has no device information from this file`);
  return (read.ok ? read.value : undefined) ?? deviceInfoOf(result);
}
