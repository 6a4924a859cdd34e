// Attaches one network: runs its chain, notes each step's outcome in the journal, and checks the result against the selection.

import { conflictText } from "../../../src/net/conflict-text.ts";
import type { AddressConflict, PoolLease } from "../../capabilities/step.ts";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { addChain, describePlugin } from "../../../src/cni/chains.ts";
import { type FailedStep, failedStepOf, type PassedOverStep } from "../../../src/cni/failed-step.ts";
import type { PluginConf } from "../../../src/cni/network-list.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { runChain, type RunStep } from "../../../src/cni/run-chain.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { verifyPool, verifyResult } from "../../../src/npwg/verification.ts";
import type { Call } from "../call.ts";
import { located } from "../../../src/fault/locate-fault.ts";
import { deviceOf, prepareDevice } from "../plan/attachment-device.ts";
import type { Attached, AttachmentPlan } from "../planned/attachment-plan.ts";
import type { Progress } from "../record/add-progress.ts";

/**
 * Attaches the network with this index in the journal's plan, which is written before its first step. `isNameTaken`: the pod has a link with the
 * attachment's interface name already. Fault: the failing plugin's own, with the attachment named; the attachment is then attempted and not undone.
 */
export async function attach(
  call: Call,
  plan: AttachmentPlan,
  {
    index,
    tell,
    isNameTaken,
  }: { readonly index: number; readonly isNameTaken: boolean; readonly tell: (event: PodEvent) => void },
  progress: Progress,
): Promise<Result<Attached>> {
  // An attachment that only the plan knows must not begin before the plan is on the disk. The configured default network can begin
  // earlier, because a DEL undoes it even without a journal entry: its first step need not wait for the disk.
  if (index > 0 || plan.request !== undefined) {
    const synced = await progress.syncPlan();
    if (!synced.ok) return synced;
  } else {
    // The sync starts after the request of the first step, so that it does not delay that step.
    progress.writeLater(() => progress.syncPlan());
  }
  if (index > 0) {
    const attempted = await progress.note({ attempted: index });
    if (!attempted.ok) return attempted;
  }
  const prepared = prepareDevice(call, plan);
  if (!prepared.ok) return failed(located(prepared.fault, plan.source, plan.attachment.ifname));
  const { attachment, list, previous } = plan;
  // The runtime needs the default network's result. The results of the others are only for the network status (NPWG 5.1.1).
  const withoutResult = index === 0 ? undefined : (plugin: PluginConf): void => call.warn(noResult(plan, plugin));
  const chain = addChain({ list, path: call.request.path, inherited: call.inherited, attachment, previous, withoutResult });
  const { ifname } = attachment;
  const onPassedOver = (step: PassedOverStep): void => {
    void progress.note({ passedOver: index, ...step });
    tell({ reason: "StepPassedOver", message: passedOverText(plan, step) });
  };
  const onConflict = ({ address, mac }: AddressConflict): void =>
    tell({ reason: "AddressConflict", message: conflictText({ network: list.name, ifname, address, mac }) });
  const definition = plan.binding?.definition;
  const poolLeases: PoolLease[] = [];
  const onPoolLease = (lease: PoolLease): void => void poolLeases.push(lease);
  const run = call.runStep({ network: list.name, ifname, definition, onPassedOver, onConflict, onPoolLease, isNameTaken });
  const steps = watchFailure(run, call.deadline);
  const ended = await runChain(chain, steps.run);
  if (!ended.ok) {
    const failedStep = steps.failed();
    if (failedStep !== undefined) await progress.note({ addFailed: index, ...failedStep });
    return failed(located(ended.fault, plan.source, attachment.ifname));
  }
  void progress.note({ attached: index, result: ended.value.text });
  const verified = verifyRequest(plan, ended.value.result, poolLeases);
  if (!verified.ok) return failed(located(verified.fault, plan.source, attachment.ifname));
  progress.writeLater(() => call.cache.write(plan, ended.value));
  return ok({ plan, result: ended.value, deviceInfo: deviceOf(call, plan, ended.value.result) });
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
  deadline: Pick<Call["deadline"], "beginStep">,
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
