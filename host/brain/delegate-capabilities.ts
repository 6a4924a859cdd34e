// What a delegate's imports are bound to for one call: its network, its attachment, its verb, and what the administrator grants.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { type DelegateGrants, defaultLeaseDirectory, defaultResolverFiles } from "../../src/configuration/wasm-configuration.ts";
import type { Hands } from "../hands/hands.ts";
import type { LeaseOperation } from "../leases/effect.ts";
import type { LeaseMemory } from "../leases/lease-memory.ts";
import { leasesFor } from "../leases/scope.ts";
import { resolverFor } from "../resolver/scope.ts";
import type { LinksLink } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { CapabilityImports } from "../sandbox/runner.ts";

/** What the capabilities of all calls work with. */
export interface CapabilityHost {
  readonly hands: Hands;
  /** Drives an operation on leases: takes the locks that it wants. At once where the runner's guests share this process. */
  readonly lease: <T>(operation: LeaseOperation<T>) => T | Promise<T>;
  /** What a brain that stays remembers of leases. */
  readonly leaseMemory?: LeaseMemory;
  /** A line of a delegate's log. */
  readonly log: (type: string, level: string, message: string) => void;
}

/** The one call that they are bound to. */
export interface CapabilityCall {
  readonly step: ChainStep;
  readonly network: string;
  /** Of the step's type; a capability that is bound is granted, so it is in here. */
  readonly grants: DelegateGrants;
  readonly delegating: Delegating;
}

/** How a delegate may have other plugins called. */
export interface Delegating {
  /** The types that called one another up to here, the delegate's own last. */
  readonly callers: readonly string[];
  /** Runs a step for it, within the time that the delegate has left. */
  readonly run: (step: ChainStep) => Promise<StepOutcome>;
}

type Name = keyof CapabilityImports;

/** What the capabilities of one call know of each other. */
interface BoundCall extends CapabilityCall {
  /** Addresses that plugins called by the delegate gave the attachment. */
  readonly gained: string[];
  /** The node's ends of veths that it made for the attachment. */
  readonly ends: string[];
}

/** Binds one capability. What only this capability needs is loaded by it, so that no other call pays for it. */
type Bind<C extends Name> = (
  host: CapabilityHost,
  call: BoundCall,
) => NonNullable<CapabilityImports[C]> | Promise<NonNullable<CapabilityImports[C]>>;

const binders: { readonly [C in Name]?: Bind<C> } = {
  log: ({ log }, { step }) => ({ write: (level, message) => log(step.plugin.type, level, message) }),
  leases: ({ lease, leaseMemory }, call) => {
    const leases = leasesOf(call, leaseMemory);
    return {
      reserve: (pool, address, owner) => lease(leases.reserve(pool, address, owner)),
      reserveNext: (pool, ranges, skip, owner) => lease(leases.reserveNext(pool, ranges, skip, owner)),
      held: (pool, owner) => lease(leases.held(pool, owner)),
      release: (pool, owner) => lease(leases.release(pool, owner)),
      retain: (pool, valid) => lease(leases.retain(pool, valid)),
      count: (pool, ranges, limit) => lease(leases.count(pool, ranges, limit)),
      probe: (pool) => lease(leases.probe(pool)),
    };
  },
  delegation: async (_, { step, grants, delegating, gained }) => {
    const { delegationFor } = await import("../delegation/scope.ts");
    const delegation = delegationFor({ step, plugins: grants.delegation?.plugins ?? [], ...delegating });
    return {
      ...delegation,
      add: async (type, config) => {
        const added = await delegation.add(type, config);
        if ("ok" in added) gained.push(...added.ok.ips.map(({ address }) => address));
        return added;
      },
    };
  },
  firewall: async ({ hands }, { step, network, grants, gained, ends }) => {
    const { firewallFor } = await import("../firewall/scope.ts");
    const { attachment } = step;
    return firewallFor(
      {
        type: step.plugin.type,
        network,
        verb: verbs[step.verb],
        ...(attachment === undefined ? {} : { attachment }),
        grant: grants.firewall ?? {},
        addresses: () => [...(step.prevResult?.result.ips ?? []).map(({ address }) => address), ...gained],
        ends: () => ends,
      },
      hands,
    );
  },
  sysctl: async ({ hands }, { step, grants }) => {
    const { sysctlFor } = await import("../sysctl/scope.ts");
    return sysctlFor({ ...callOf(step), ...grants.sysctl }, hands);
  },
  announce: async ({ hands }, { step }) => {
    const { announceFor } = await import("../announce/scope.ts");
    return announceFor(callOf(step), hands, () => performance.now());
  },
  state: async (_, { step, grants }) => {
    const { stateFor } = await import("../state/scope.ts");
    return stateFor({ ...callOf(step), directories: grants.state?.directories });
  },
  links: async ({ hands }, { step, grants, ends }) => {
    const { linksFor } = await import("../links/links.ts");
    const attachment = step.attachment && { ifname: step.attachment.ifname, netns: variable(step, "CNI_NETNS") };
    const scope = { type: step.plugin.type, grant: grants.links ?? {}, verb: step.verb, attachment };
    const links = linksFor(scope, hands, () => performance.now());
    return {
      ...links,
      apply: async (operations) => {
        const applied = await links.apply(operations);
        const made = new Set(operations.flatMap((each) => (each.tag === "add-veth" ? [each.val.name] : [])));
        if ("ok" in applied) ends.push(...applied.ok.filter((link) => endOf(link, made)).map(({ name }) => name));
        return applied;
      },
    };
  },
  resolver: (_, { grants }) => resolverFor({ allowedFiles: grants.resolver?.files ?? defaultResolverFiles }),
};

/** The capabilities that an admitted component can call, and no others, bound to one call of it. */
export async function bindCapabilities(
  host: CapabilityHost,
  call: CapabilityCall,
  capabilities: readonly string[],
): Promise<CapabilityImports> {
  const bound: Record<string, unknown> = {};
  const boundCall = { gained: [], ends: [], ...call };
  for (const name of capabilities) {
    const bind = isBound(name) ? binders[name] : undefined;
    if (bind === undefined) continue;
    const made = bind(host, boundCall);
    bound[name] = made instanceof Promise ? await made : made;
  }
  return bound;
}

/** Whether a link is the node's end of one of these veths of the pod. */
function endOf({ place, kind, peer }: LinksLink, made: ReadonlySet<string>): boolean {
  return place === "host" && kind === "veth" && peer !== undefined && made.has(peer);
}

function variable({ env }: ChainStep, name: string): string {
  return env.find(([key]) => key === name)?.[1] ?? "";
}

function isBound(name: string): name is Name {
  return Object.hasOwn(binders, name);
}

/** What each room wants to know of the call; `netns` is empty where there is no namespace (any more). */
function callOf({ plugin, verb, attachment, env }: ChainStep): {
  readonly type: string;
  readonly verb: ChainStep["verb"];
  readonly attachment: ChainStep["attachment"];
  readonly netns: string;
} {
  const [, netns = ""] = env.find(([name]) => name === "CNI_NETNS") ?? [];
  return { type: plugin.type, verb, attachment, netns };
}

const verbs = { ADD: "add", DEL: "del", CHECK: "check", GC: "gc", STATUS: "status", VERSION: "status" } as const;

function leasesOf({ step, network, grants }: CapabilityCall, memory: LeaseMemory | undefined): ReturnType<typeof leasesFor> {
  const [defaultDirectory, ...further] = grants.leases?.directories ?? [defaultLeaseDirectory];
  return leasesFor({
    network,
    verb: verbs[step.verb],
    defaultDirectory: defaultDirectory ?? defaultLeaseDirectory,
    allowedDirectories: further,
    memory,
    ...(step.attachment === undefined ? {} : { attachment: step.attachment }),
  });
}
