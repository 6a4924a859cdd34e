// Binds capabilities to one call of a delegate: to its network, its attachment, its verb, and the administrator's grants.

import { defaultDeviceRecords, defaultResolverFiles, type LinkGrant } from "../../src/configuration/keys/grant-keys.ts";
import { redactorOf } from "../../src/text/secret-values.ts";
import type { CapabilityImports } from "../sandbox/runner.ts";
import { leaseScopeOf, podStep, witVerbs } from "./bound-step.ts";
import { CallFacts } from "./call-facts.ts";
import type { CapabilityHost } from "./delegate-host.ts";
import { reportedLeases } from "./leases/reported-leases.ts";
import { leasesFor } from "./leases/scope.ts";
import type { DeviceScope } from "./links/link-scope.ts";
import { resolverFor } from "./resolver/scope.ts";
import type { Step } from "./step.ts";

type Name = keyof CapabilityImports;

/** Binds one capability. Imports a capability's module only when it is bound, so that other calls need not load it. */
type Bind<C extends Name> = (
  host: CapabilityHost,
  running: Step,
  facts: CallFacts,
) => NonNullable<CapabilityImports[C]> | Promise<NonNullable<CapabilityImports[C]>>;

const binders: { readonly [C in Name]?: Bind<C> } = {
  log: ({ log }, { step }) => {
    const redact = redactorOf(step);
    return { write: (level, message) => log(step.plugin.type, level, redact(message)) };
  },
  leases: async ({ runLeaseOperation: run, leaseMemory, taken }, running) => {
    const scope = leaseScopeOf(running, leaseMemory, taken);
    const { pool: ofCluster, onPoolLease } = running;
    if (ofCluster !== undefined) {
      const { name, source } = ofCluster;
      const leases = await source.leases(name, scope, running, run);
      return onPoolLease === undefined ? leases : reportedLeases(leases, (address) => onPoolLease({ pool: name, address }));
    }
    const leases = leasesFor(scope);
    return {
      reserve: (pool, address, owner) => run(leases.reserve(pool, address, owner)),
      reserveNext: (pool, ranges, skip, owner) => run(leases.reserveNext(pool, ranges, skip, owner)),
      held: (pool, owner) => run(leases.held(pool, owner)),
      release: (pool, owner) => run(leases.release(pool, owner)),
      retain: (pool, valid) => run(leases.retain(pool, valid)),
      count: (pool, ranges, limit) => run(leases.count(pool, ranges, limit)),
      probe: (pool) => run(leases.probe(pool)),
    };
  },
  delegation: async (_, { step, grants, callers, runDelegated }, facts) => {
    const { delegationFor } = await import("./delegation/scope.ts");
    const delegation = delegationFor({
      step,
      plugins: grants.delegation?.plugins ?? [],
      callers: [...callers, step.plugin.type],
      run: (next) => runDelegated(next, Infinity),
    });
    return {
      ...delegation,
      add: async (type, config) => {
        const added = await delegation.add(type, config);
        if ("ok" in added) facts.reportDelegatedAdd(added.ok.ips);
        return added;
      },
    };
  },
  firewall: async ({ shim }, { step, network, grants }, facts) => {
    const { firewallFor } = await import("./firewall/scope.ts");
    const { attachment } = step;
    return firewallFor(
      {
        type: step.plugin.type,
        network,
        verb: witVerbs[step.verb],
        ...(attachment === undefined ? {} : { attachment }),
        grant: grants.firewall ?? {},
        facts,
      },
      shim,
    );
  },
  sysctl: async ({ shim }, { step, grants }) => {
    const { sysctlFor } = await import("./sysctl/scope.ts");
    return sysctlFor({ ...podStep(step), ...grants.sysctl }, shim);
  },
  announce: async (host, running, facts) => {
    const [{ announceFor }, { remembering }] = await Promise.all([
      import("./announce/scope.ts"),
      import("./announce/remember-conflicts.ts"),
    ]);
    const announce = announceFor(podStep(running.step), host.shim, host.clock.now);
    return remembering(announce, host, running, facts);
  },
  shaping: async ({ shim }, { step, network }) => {
    const { shapingFor } = await import("./shaping/scope.ts");
    return shapingFor({ ...podStep(step), network }, shim);
  },
  filter: async ({ shim }, { step, network, grants }, facts) => {
    const { filterFor } = await import("./filter/scope.ts");
    const { type, verb, attachment } = podStep(step);
    return filterFor({ type, verb, attachment, network, grant: grants.filter ?? {}, facts }, shim);
  },
  flows: async ({ shim }, { step }, facts) => {
    const { flowsFor } = await import("./flows/scope.ts");
    const { verb, attachment } = podStep(step);
    return flowsFor({ verb, attachment, facts }, shim);
  },
  state: async (_, { step, grants }) => {
    const { stateFor } = await import("./state/scope.ts");
    return stateFor({ ...podStep(step), directories: grants.state?.directories });
  },
  links: async ({ shim, clock }, running, facts) => {
    const { step, grants, ownLinks } = running;
    const { linksFor } = await import("./links/links.ts");
    const { type, verb, attachment, netns } = podStep(step);
    const pod = attachment && { ifname: attachment.ifname, netns, ownLinks };
    const grant = grants.links ?? {};
    const devices = grant.devices === undefined ? undefined : await deviceScopeOf(running, grant);
    const links = linksFor({ type, grant, verb, attachment: pod, devices }, shim, clock.now);
    return {
      ...links,
      apply: async (operations) => {
        const applied = await links.apply(operations);
        if ("ok" in applied) facts.reportLinks(operations, applied.ok);
        return applied;
      },
    };
  },
  ovs: async ({ clock }, running, facts) => {
    const [{ ovsFor }, { ovsScopeOf }] = await Promise.all([import("./ovs/scope.ts"), import("./ovs/step-scope.ts")]);
    return ovsFor(ovsScopeOf(running, facts), clock.now);
  },
  dhcp: async ({ shim, clock, dhcp }, { step, network }) => {
    const { dhcpFor } = await import("./dhcp/scope.ts");
    const { verb, attachment, netns } = podStep(step);
    const scope = { network, verb, netns, records: dhcp?.records, isRenewed: dhcp?.isRenewed === true };
    return dhcpFor({ ...scope, attachment }, shim, clock);
  },
  routing: async ({ shim }, { step, grants }) => {
    const { routingFor } = await import("./routing/scope.ts");
    const { type, verb, attachment, netns } = podStep(step);
    return routingFor({ type, verb, hasPod: attachment !== undefined, netns, grant: grants.routing ?? {} }, shim);
  },
  resolver: (_, { grants }) => resolverFor({ allowedFiles: grants.resolver?.files ?? defaultResolverFiles }),
};

/** The records of devices; only delegates with a grant on devices load them. */
async function deviceScopeOf({ step, network }: Step, grant: LinkGrant): Promise<DeviceScope> {
  const [{ deviceFiles }, { Sysfs }] = await Promise.all([
    import("./links/devices/device-store.ts"),
    import("./links/devices/sysfs.ts"),
  ]);
  const store = deviceFiles(grant.deviceRecords ?? defaultDeviceRecords);
  return { network, containerId: step.attachment?.containerId ?? "", store, sysfs: new Sysfs() };
}

/** Binds the capabilities `names`, which an admitted component imports, to one step. Nothing else can be called. */
export async function bindCapabilities(
  host: CapabilityHost,
  running: Step,
  names: readonly string[],
): Promise<CapabilityImports> {
  if (running.dry !== undefined) {
    const { bindDry } = await import("./dry/bind-dry.ts");
    return bindDry(host, running, running.dry, names);
  }
  const bound: Record<string, unknown> = {};
  const facts = new CallFacts(running.step.prevResult);
  for (const name of names) {
    const bind = isCapability(name) ? binders[name] : undefined;
    if (bind === undefined) continue;
    const imports = bind(host, running, facts);
    bound[name] = imports instanceof Promise ? await imports : imports;
  }
  return bound;
}

function isCapability(name: string): name is Name {
  return Object.hasOwn(binders, name);
}
