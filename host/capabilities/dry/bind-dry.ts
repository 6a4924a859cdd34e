// Binds the capabilities of a shadow to one call. Reads are real, and grants hold as in a real run. Writes are recorded and answered as if
// they had succeeded.

import { defaultResolverFiles } from "../../../src/configuration/keys/grant-keys.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { LeasesCapability, LinksLink, LinksOperation, SysctlSetting } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { CapabilityImports } from "../../sandbox/runner.ts";
import type { Clock } from "../../system/clock.ts";
import { leaseScopeOf, podStep } from "../bound-step.ts";
import type { CapabilityHost } from "../delegate-host.ts";
import { leasesFor } from "../leases/scope.ts";
import { checkOperations } from "../links/check-operations.ts";
import { Sysfs } from "../links/devices/sysfs.ts";
import type { DeviceScope } from "../links/link-scope.ts";
import { linksFor } from "../links/links.ts";
import { refuse, type WitOutcome } from "../outcome.ts";
import { resolverFor } from "../resolver/scope.ts";
import type { Step } from "../step.ts";
import { ovsFor } from "../ovs/scope.ts";
import { ovsScopeOf } from "../ovs/step-scope.ts";
import { routingFor } from "../routing/scope.ts";
import { withChangesInMemory } from "../state/capability.ts";
import { stateFor } from "../state/scope.ts";
import { sysctlFor } from "../sysctl/scope.ts";
import type { DryRun } from "./dry-run.ts";
import { DryShim } from "./dry-shim.ts";

/** Binds the capabilities `names` to a shadow's step. `shadowRefusal` has admitted the names. */
export function bindDry(host: CapabilityHost, running: Step, dry: DryRun, names: readonly string[]): CapabilityImports {
  const shim = new DryShim(host.shim, dry);
  const binders: { readonly [C in keyof CapabilityImports]?: () => NonNullable<CapabilityImports[C]> } = {
    log: () => ({
      write: (level, message) => host.log(running.step.plugin.type, level, `(shadow) ${message}`),
    }),
    leases: () => dryLeases(host, running, dry),
    resolver: () => resolverFor({ allowedFiles: running.grants.resolver?.files ?? defaultResolverFiles }),
    links: () => dryLinks(running, shim, host.clock, dry),
    sysctl: () => drySysctl(running, shim, dry),
    announce: () => ({ send: async () => ({ ok: undefined }), probe: async () => ({ ok: [] }) }),
    state: () => dryState(running),
    ovs: () => dryOvs(running, host.clock, dry),
    routing: () => dryRouting(running, shim, dry),
  };
  const bound: Record<string, unknown> = {};
  for (const name of names) bound[name] = isBindable(binders, name) ? binders[name]?.() : undefined;
  return bound;
}

function isBindable<T extends object>(binders: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(binders, name);
}

/** The leases of the snapshot. Another directory than the snapshot's is refused, because its earlier state is unknown. */
function dryLeases(
  { runLeaseOperation: run }: CapabilityHost,
  running: Step,
  dry: DryRun,
): NonNullable<CapabilityImports["leases"]> {
  const scope = leaseScopeOf(running, undefined);
  const snapshot = dry.leases;
  const leases = leasesFor(scope, snapshot?.store());
  const isKnown = (pool: Parameters<LeasesCapability["probe"]>[0]): boolean => snapshot?.isOf(scope, pool.directory) === true;
  const refused = (request: string) => refuse(dry.refuse(running.step.plugin.type, `leases.${request} outside of ipam.dataDir`));
  return {
    reserve: (pool, address, owner) => (isKnown(pool) ? run(leases.reserve(pool, address, owner)) : refused("reserve")),
    reserveNext: (pool, ranges, skip, owner) =>
      isKnown(pool) ? run(leases.reserveNext(pool, ranges, skip, owner)) : refused("reserve-next"),
    held: (pool, owner) => (isKnown(pool) ? run(leases.held(pool, owner)) : refused("held")),
    release: (pool, owner) => (isKnown(pool) ? run(leases.release(pool, owner)) : refused("release")),
    retain: () => refused("retain"),
    count: (pool, ranges, limit) => (isKnown(pool) ? run(leases.count(pool, ranges, limit)) : refused("count")),
    probe: (pool) => (isKnown(pool) ? run(leases.probe(pool)) : refused("probe")),
  };
}

/** Real reads. Of the changes, `change-link` is compared with the link's present state; others are refused. */
function dryLinks(
  { step, grants, network }: Step,
  shim: DryShim,
  clock: Clock,
  dry: DryRun,
): NonNullable<CapabilityImports["links"]> {
  const { type, verb, attachment, netns } = podStep(step);
  const pod = attachment && { ifname: attachment.ifname, netns };
  const grant = grants.links ?? {};
  const devices = grant.devices === undefined ? undefined : devicesToRead(network, attachment?.containerId ?? "");
  const scope = { type, grant, verb, attachment: pod, devices };
  const links = linksFor(scope, shim, clock.now);
  const changed = new Map<string, LinksLink>();
  const overlaid = (outcome: WitOutcome<readonly LinksLink[]>): WitOutcome<readonly LinksLink[]> =>
    "ok" in outcome ? { ok: outcome.ok.map((link) => changed.get(`${link.place}/${link.name}`) ?? link) } : outcome;
  return {
    ...links,
    retainDevices: async () => refuse(dry.refuse(type, "links.retain-devices")),
    read: async (names) => overlaid(await links.read(names)),
    apply: async (operations) => {
      const checked: Result<unknown> = checkOperations(scope, operations);
      if (!checked.ok) return refuse(checked.fault);
      const other = operations.find(({ tag }) => tag !== "change-link");
      if (other !== undefined) return refuse(dry.refuse(type, `links.apply with ${other.tag}`));
      const names = operations.flatMap((operation) => (operation.tag === "change-link" ? [operation.val.link] : []));
      const found = await links.read(names);
      if (!("ok" in found)) return found;
      for (const link of found.ok) changed.set(`${link.place}/${link.name}`, changedLink(link, operations, dry));
      return overlaid(found);
    },
  };
}

/** Devices are found, and none moves, so that their records are not needed. */
function devicesToRead(network: string, containerId: string): DeviceScope {
  const none = {
    load: () => ok(undefined),
    list: () => ok({ records: [], damaged: [] }),
    save: () => ok(undefined),
    remove: () => ok(undefined),
  };
  return { network, containerId, store: { ...none, functions: none }, sysfs: new Sysfs() };
}

/** The link with the wanted values. Each wanted value is recorded with the present one. */
function changedLink(link: LinksLink, operations: readonly LinksOperation[], dry: DryRun): LinksLink {
  let wanted = link;
  for (const operation of operations) {
    if (operation.tag !== "change-link") continue;
    const { link: name, alternativeNames, ...values } = operation.val;
    if (name.place !== link.place || name.name !== link.name) continue;
    const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    for (const [key, intended] of Object.entries(set)) {
      const path = `/links/${link.place}/${link.name}/${key}`;
      dry.intend({ path, intended: inLowerCase(intended), actual: inLowerCase(Reflect.get(link, key)) });
    }
    wanted = { ...wanted, ...set, alternativeNames: [...wanted.alternativeNames, ...alternativeNames] };
  }
  return wanted;
}

/** A MAC is the same in both cases. */
function inLowerCase(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}

/** Real reads; a written value is compared with the present one, and read back as written. */
function drySysctl({ step, grants }: Step, shim: DryShim, dry: DryRun): NonNullable<CapabilityImports["sysctl"]> {
  const sysctl = sysctlFor({ ...podStep(step), ...grants.sysctl }, shim);
  const written = new Map<string, string>();
  const overlaid = (keys: readonly string[], outcome: WitOutcome<readonly string[]>): WitOutcome<readonly string[]> =>
    "ok" in outcome ? { ok: outcome.ok.map((value, at) => written.get(keys[at] ?? "") ?? value) } : outcome;
  return {
    read: async (keys) => overlaid(keys, await sysctl.read(keys)),
    write: async (settings: readonly SysctlSetting[]) => {
      const keys = settings.map(({ key }) => key);
      // The shim of a shadow reads where a real one writes.
      const present = await sysctl.write(settings);
      const answer = overlaid(keys, present);
      if (!("ok" in present)) return present;
      for (const [at, { key, value }] of settings.entries()) {
        written.set(key, value);
        const path = `/sysctl/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        dry.intend({ path, intended: withSingleBlanks(value), actual: withSingleBlanks(present.ok[at] ?? "") });
      }
      return answer;
    },
  };
}

/** The kernel separates several numbers by tabs, whatever separators were written. */
function withSingleBlanks(text: string): string {
  return text.trim().split(/\s+/u).join(" ");
}

/** Real loads; a saved text is read back. A directory that is not granted is refused as in a real run. */
function dryState({ step, grants }: Step): NonNullable<CapabilityImports["state"]> {
  return stateFor({ ...podStep(step), directories: grants.state?.directories }, withChangesInMemory);
}

/** Real reads. Rules are not changed: whether the kernel takes one is known only when it has. */
function dryRouting({ step, grants }: Step, shim: DryShim, dry: DryRun): NonNullable<CapabilityImports["routing"]> {
  const { type, verb, attachment, netns } = podStep(step);
  const routing = routingFor({ type, verb, hasPod: attachment !== undefined, netns, grant: grants.routing ?? {} }, shim);
  return {
    ...routing,
    addRules: async () => refuse(dry.refuse(type, "routing.add-rules")),
    deleteRules: async () => refuse(dry.refuse(type, "routing.delete-rules")),
  };
}

/** Real reads. A port cannot be added, because its link does not exist; a removal changes nothing. */
function dryOvs(running: Step, clock: Clock, dry: DryRun): NonNullable<CapabilityImports["ovs"]> {
  const scope = ovsScopeOf(running, { hostVeths: [] });
  const ovs = ovsFor(scope, clock.now);
  return {
    ...ovs,
    addPort: async (port) => refuse(dry.refuse(scope.type, `ovs.add-port to bridge ${quote(port.bridge, 40)}`)),
    removePort: async (link) => {
      const found = await ovs.port(link);
      return "ok" in found ? { ok: found.ok !== undefined } : found;
    },
    removePorts: async () => {
      const found = await ovs.ports();
      return "ok" in found ? { ok: found.ok.length } : found;
    },
    retain: async () => refuse(dry.refuse(scope.type, "ovs.retain")),
  };
}
