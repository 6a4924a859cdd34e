// GC: the runtime sends the list of its valid attachments. First, each journal entry of this configuration that is not in the list gets
// its DEL. Then the plugins of each network get GC with the network's own list (L-43, L-44, MO-12). Finally, abandoned attachments are
// tried again. Other calls go on meanwhile: a DEL locks one container, and only a plugin's GC locks out all calls.

import { fault, joinFaults } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Call } from "../call.ts";
import { CurrentNetworks } from "../plan/current-network.ts";
import { findDefaultNetwork } from "../plan/default-network.ts";
import { finishAbandoned } from "./converge.ts";
import { clearStale, type GcPlan, type GcRound, planGc } from "./gc-plan.ts";
import { knownNetworks, removeTornFiles, runPluginGc, supportsGc } from "./gc-networks.ts";
import { validAttachments } from "../../../src/cni/valid-attachments.ts";

/** Runs one GC within `gc.seconds`. The fault joins all faults of its steps; GC_UNFINISHED if the time did not suffice. */
export async function gc(call: Call): Promise<Result<void>> {
  const valid = validAttachments(call.document);
  if (!valid.ok) return valid;
  // As in libcni, a GC of a configuration that disables it succeeds without a step.
  if (call.configuration.disableGC) return ok(undefined);
  const plan = planGc(call, valid.value);
  if (!plan.ok) return plan;
  // Stores a default network of the API on a node that has attached no pod yet. If the network cannot be found, `knownNetworks` says why.
  await findDefaultNetwork(call);
  const current = new CurrentNetworks(call);
  if (call.configuration.gc.dryRun) return reportDryRun(call, plan.value, current);

  const { seconds } = call.configuration.gc;
  const started = call.clock.now();
  let skippedSteps = 0;
  const hasTime = (): boolean => {
    if (call.clock.now() - started <= seconds * 1000) return true;
    skippedSteps += 1;
    return false;
  };
  const round: GcRound = { call: call, plan: plan.value, networks: current, faults: [], hasTime };
  await clearStale(round);
  await collectNetworks(round);
  await retryAbandoned(round);
  if (skippedSteps > 0)
    round.faults.push(
      fault("GC_UNFINISHED", `GC took more than ${seconds} s (gc.seconds); ${skippedSteps} of its steps are left to the next GC`),
    );
  const joined = joinFaults(round.faults);
  return joined === undefined ? ok(undefined) : failed(joined);
}

async function collectNetworks(round: GcRound): Promise<void> {
  await removeTornFiles(round);
  const networks = knownNetworks(round.call, round.plan, true);
  if (!networks.ok) round.faults.push(networks.fault);
  for (const network of networks.ok ? networks.value : []) {
    if (!(await supportsGc(round.networks, network))) continue;
    const { list } = network;
    for (const plugin of list.plugins) if (round.hasTime()) await runPluginGc(round, list, plugin);
  }
}

/** Tries the abandoned attachments again. A failure is a warning only, because it was already reported when DEL was given up. */
async function retryAbandoned({ call, plan, hasTime }: GcRound): Promise<void> {
  const files = call.abandoned.list();
  if (!files.ok) return call.warn(files.fault.msg);
  for (const file of files.value) {
    if (file.key.network !== call.configuration.name || plan.isValid(file.key) || !hasTime()) continue;
    const held = await call.locks.container(file.key);
    if (!held.ok) continue;
    try {
      const finished = await finishAbandoned(call, file);
      if (!finished.ok) call.warn(`still abandoned: ${file.path}: ${finished.fault.msg}`);
    } finally {
      held.value();
    }
  }
}

/** Warns of each action that a GC would take (`gc.dryRun`, D-14). */
async function reportDryRun(call: Call, plan: GcPlan, current: CurrentNetworks): Promise<Result<void>> {
  const networks = knownNetworks(call, plan, true);
  if (!networks.ok) return networks;
  for (const { containerId, ifname } of plan.stale) call.warn(`GC would delete attachment ${containerId} ${ifname}`);
  for (const network of networks.value) {
    if (!(await supportsGc(current, network))) continue;
    const { list, attachments } = network;
    const ids = [...attachments.values()].map(({ containerId, ifname }) => `${containerId} ${ifname}`);
    const types = list.plugins.map(({ type }) => type).join(", ");
    call.warn(`GC would run for ${types} of network ${list.name} with these valid attachments: ${ids.join(", ") || "none"}`);
  }
  const files = call.abandoned.list();
  for (const { path } of files.ok ? files.value : []) call.warn(`GC would try again to undo the abandoned attachment ${path}`);
  return ok(undefined);
}
