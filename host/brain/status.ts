// STATUS: whether the default network could attach a pod now. The failing plugin's code (50, 51) survives (MO-13).

import { statusChain } from "../../src/cni/chains.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { runChain } from "./run-chain.ts";

export async function status(context: CallContext): Promise<Result<void>> {
  const list = readDefaultNetwork(context.document, context.configuration);
  if (!list.ok) return list;
  const chain = statusChain({ list: list.value, path: context.call.path, inherited: context.inherited });
  const ended = await runChain(chain, context.runStep(list.value.name, ""));
  return ended.ok ? ok(undefined) : failed(ended.fault);
}
