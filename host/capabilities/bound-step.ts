// The facts about a step that the capabilities bound to it need.

import type { ChainStep } from "../../src/cni/chain-step.ts";
import { defaultLeaseDirectory } from "../../src/configuration/keys/grant-keys.ts";
import type { LeaseMemory } from "./leases/lease-memory.ts";
import type { LeaseScope } from "./leases/scope.ts";
import type { TakenAddresses } from "./leases/taken-addresses.ts";
import type { Step } from "./step.ts";

/** The verbs as the ABI spells them. VERSION calls no capability. */
export const witVerbs = { ADD: "add", DEL: "del", CHECK: "check", GC: "gc", STATUS: "status", VERSION: "status" } as const;

/** The fields of a step that most capabilities need. `netns` is empty if the network namespace is gone, and for GC and STATUS. */
export function podStep({ plugin, verb, attachment, env }: ChainStep): {
  readonly type: string;
  readonly verb: ChainStep["verb"];
  readonly attachment: ChainStep["attachment"];
  readonly netns: string;
} {
  const [, netns = ""] = env.find(([name]) => name === "CNI_NETNS") ?? [];
  return { type: plugin.type, verb, attachment, netns };
}

/** The scope of `leases` for a step. */
export function leaseScopeOf(
  { step, network, grants, knownContainers, pool }: Step,
  memory: LeaseMemory | undefined,
  taken?: TakenAddresses,
): LeaseScope {
  const [defaultDirectory, ...further] = grants.leases?.directories ?? [defaultLeaseDirectory];
  return {
    network,
    verb: witVerbs[step.verb],
    defaultDirectory: defaultDirectory ?? defaultLeaseDirectory,
    allowedDirectories: further,
    memory,
    ...(taken === undefined ? {} : { taken: () => taken.of(network) }),
    ...(pool === undefined ? {} : { pool: { name: pool.name, root: pool.source.root } }),
    ...(knownContainers === undefined ? {} : { knownContainers }),
    ...(step.attachment === undefined ? {} : { attachment: step.attachment }),
  };
}
