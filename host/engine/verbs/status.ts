// STATUS: whether the default network could attach a pod now (CNI 1.1.0 section 2). It executes no more than the plugins' own
// STATUS, changes nothing and waits for nobody. The failing plugin's code (50, 51) survives (MO-13); what Plexus itself lacks is 50.

import { statusChain } from "../../src/cni/chains.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { whyUnwritable } from "../journal/can-be-written.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { readyNow } from "./readiness.ts";
import { requirePlugins } from "./require-plugins.ts";
import { runChain } from "./run-chain.ts";
import type { DelegateRunner } from "./step-runner.ts";

/** A runtime asks every few seconds and waits for the answer: a plugin that hangs must not keep it. */
const statusStepMs = 5000;

export async function status(context: CallContext, delegates: Pick<DelegateRunner, "admit">): Promise<Result<void>> {
  const ready = readyNow(context);
  if (!ready.ok) return failed(unavailable(ready.fault));
  const list = readDefaultNetwork(context);
  if (!list.ok) return failed(unavailable(list.fault));
  const found = await requirePlugins(context, delegates, [{ source: "default", list: list.value }]);
  if (!found.ok) return failed(unavailable(found.fault));
  const { cniDir } = context.configuration;
  const unwritable = await whyUnwritable(cniDir);
  if (unwritable !== undefined) return failed(unavailable(fault("STORE_FAILED", `journal in ${cniDir}: ${unwritable}`)));
  const chain = statusChain({ list: list.value, path: context.call.path, inherited: context.inherited });
  const ended = await runChain(chain, context.runStep(list.value.name, "", statusStepMs));
  return ended.ok ? ok(undefined) : failed(ended.fault);
}

/** An ADD would be refused for it: that is code 50, whatever its own is; its own remedy stays. */
function unavailable(cause: Fault): Fault {
  return fault("NOT_AVAILABLE", cause.msg, cause.details === undefined ? {} : { details: cause.details });
}
