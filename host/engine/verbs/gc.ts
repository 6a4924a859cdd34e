// GC: the runtime says which of its attachments are valid. Everything journalled under this configuration that isn't gets its
// DEL; then every network that is still known gets GC with its own valid list (L-43, L-44, MO-12); then what was left behind is
// tried again. Other calls go on meanwhile: a container is kept out while its attachments are undone, everybody while one plugin
// is told what is valid.

import { fault } from "../../src/fault/fault.ts";
import { joinFaults } from "../../src/fault/join-faults.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { CallContext } from "./call-context.ts";
import { finishLeftBehind } from "./finish-left-behind.ts";
import { type GcPlan, type GcRound, planGc } from "./gc-plan.ts";
import { knownNetworks, speaksGc, tellPlugin, sweep } from "./gc-networks.ts";
import { clearStale } from "./gc-stale.ts";
import { validAttachments } from "./valid-attachments.ts";

export async function gc(context: CallContext): Promise<Result<void>> {
  const valid = validAttachments(context.document);
  if (!valid.ok) return valid;
  const plan = planGc(context, valid.value);
  if (!plan.ok) return plan;
  if (context.configuration.gc.dryRun) return tell(context, plan.value);

  const { seconds } = context.configuration.gc;
  const started = context.now();
  let left = 0;
  const hasTime = (): boolean => {
    if (context.now() - started <= seconds * 1000) return true;
    left += 1;
    return false;
  };
  const round: GcRound = { context, plan: plan.value, faults: [], hasTime };
  await clearStale(round);
  await collectNetworks(round);
  await retryLeftBehind(round);
  if (left > 0) round.faults.push(fault("GC_UNFINISHED", `GC took more than ${seconds} s; ${left} of its steps are left`));
  const joined = joinFaults(round.faults);
  return joined === undefined ? ok(undefined) : failed(joined);
}

async function collectNetworks(round: GcRound): Promise<void> {
  await sweep(round);
  const networks = knownNetworks(round.context, round.plan, true);
  if (!networks.ok) round.faults.push(networks.fault);
  for (const { list } of networks.ok ? networks.value : []) {
    if (!speaksGc(list)) continue;
    for (const plugin of list.plugins) if (round.hasTime()) await tellPlugin(round, list, plugin);
  }
}

/** Failing again is no fault of this GC: it was told when it was left behind, and is told again as a warning. */
async function retryLeftBehind({ context, plan, hasTime }: GcRound): Promise<void> {
  const files = context.leftBehind.list();
  if (!files.ok) return context.warn(files.fault.msg);
  for (const file of files.value) {
    if (file.key.network !== context.configuration.name || plan.isValid(file.key) || !hasTime()) continue;
    const held = await context.locks.container(file.key);
    if (!held.ok) continue;
    try {
      const finished = await finishLeftBehind(context, file);
      if (!finished.ok) context.warn(`still left behind: ${file.path}: ${finished.fault.msg}`);
    } finally {
      held.value();
    }
  }
}

/** D-14: what it would do. */
function tell(context: CallContext, plan: GcPlan): Result<void> {
  const networks = knownNetworks(context, plan, true);
  if (!networks.ok) return networks;
  for (const { containerId, ifname } of plan.stale) context.warn(`GC would delete attachment ${containerId} ${ifname}`);
  for (const { list, attachments } of networks.value) {
    if (!speaksGc(list)) continue;
    const ids = [...attachments.values()].map(({ containerId, ifname }) => `${containerId} ${ifname}`);
    const types = list.plugins.map(({ type }) => type).join(", ");
    context.warn(`GC would tell ${types} of network ${list.name} that these are valid: ${ids.join(", ") || "none"}`);
  }
  const files = context.leftBehind.list();
  for (const { path } of files.ok ? files.value : []) context.warn(`GC would try again what was left behind: ${path}`);
  return ok(undefined);
}
