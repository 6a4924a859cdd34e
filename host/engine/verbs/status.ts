// STATUS: whether the default network could attach a pod now (CNI 1.1.0 section 2). It executes plugins for STATUS only (and for
// VERSION if the network's version is before 0.3.0), changes no attachment and takes no lock. A failing plugin's code (50, 51) is passed on
// (MO-13). If Plexus itself could not serve an ADD, the code is 50.

import { statusChain, runChain } from "../../../src/cni/chains.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { whyUnwritable } from "../../store/journal/can-be-written.ts";
import type { Call } from "../call.ts";
import { findDefaultNetwork, requireReady } from "../plan/default-network.ts";
import { requirePlugins } from "../plan/require-plugins.ts";

/** Maximum milliseconds of a plugin's STATUS: a runtime asks every few seconds, and a hanging plugin must not delay it. */
const stepMs = 5000;

/** Checks that an ADD could be served. Faults: NOT_AVAILABLE (50), or the failing plugin's own. */
export async function status(call: Call): Promise<Result<void>> {
  const ready = requireReady(call);
  if (!ready.ok) return failed(unavailable(ready.fault));
  const list = await findDefaultNetwork(call);
  if (!list.ok) return failed(unavailable(list.fault));
  const features = await requireFeatures(call);
  if (!features.ok) return failed(unavailable(features.fault));
  const found = await requirePlugins(call, [{ source: "default", list: list.value }]);
  if (!found.ok) return failed(unavailable(found.fault));
  const { cniDir } = call.configuration;
  const unwritable = await whyUnwritable(cniDir);
  if (unwritable !== undefined) return failed(unavailable(fault("STORE_FAILED", `journal in ${cniDir}: ${unwritable}`)));
  const chain = statusChain({ list: list.value, path: call.request.path, inherited: call.inherited });
  const ended = await runChain(chain, call.runStep({ network: list.value.name, ifname: "" }, stepMs));
  return ended.ok ? ok(undefined) : failed(ended.fault);
}

/** Succeeds if each feature that the configuration switches on could serve an ADD. Fault: that of the first feature that could not. */
async function requireFeatures({ features, configuration, cluster }: Call): Promise<Result<void>> {
  for (const { readiness } of features) {
    if (readiness?.isOn(configuration) !== true) continue;
    const ready = await readiness.check(await cluster());
    if (!ready.ok) return ready;
  }
  return ok(undefined);
}

/** The fault as NOT_AVAILABLE (code 50), because it would make an ADD fail. The cause's own remedy stays in the details. */
function unavailable(cause: Fault): Fault {
  return fault("NOT_AVAILABLE", cause.msg, cause.details === undefined ? {} : { details: cause.details });
}
