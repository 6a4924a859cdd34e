// Frees the addresses that the plugins of an undone attachment left. Some plugins succeed in DEL without their IPAM plugin: host-device does
// without a network namespace. Each DEL looks for itself, so nothing must be remembered: not across restarts, not between two rounds.

import { ipamDelChain } from "../../../src/cni/ipam-deletion.ts";
import type { PluginConf } from "../../../src/cni/network-list.ts";
import { runChain } from "../../../src/cni/chains.ts";
import { type Fault, joinFaults } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import { type LeasePlace, leasePlacesOf, leaseRoots } from "../../../src/reconcile/lease-places.ts";
import { mayLeaveAddress, maySkipIpam } from "../../../src/reconcile/left-addresses.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import { leasesOfContainer, removeOrphaned } from "../../capabilities/leases/orphaned-leases.ts";
import { ownedLeases } from "../../capabilities/leases/owned-leases.ts";
import { LeaseDirectories } from "../../store/files/lease-directories.ts";
import { poolsDirectory } from "../../store/files/pools-directory.ts";
import { addressesIn } from "../../store/journal/shared-addresses.ts";
import type { Call } from "../call.ts";
import type { UndoneAttachment } from "./release-leases.ts";

/**
 * Frees what the attachment still holds. The IPAM plugin's DEL is called by itself; if a lease of host-local remains, its file is removed under
 * host-local's lock. The fault names what stays reserved.
 */
export async function freeLeases(call: Call, undone: UndoneAttachment): Promise<Result<void>> {
  const faults: Fault[] = [];
  noteDirectories(call, undone);
  for (const [index, plugin] of undone.list.plugins.entries()) {
    const freed = await freeOf(call, undone, index, plugin);
    if (!freed.ok) faults.push(freed.fault);
  }
  const joined = joinFaults(faults);
  return joined === undefined ? ok(undefined) : failed(joined);
}

/** Lists the attachment's lease directories for rounds: an attachment that comes and goes between two rounds is in no journal that a round reads. */
function noteDirectories(call: Call, undone: UndoneAttachment): void {
  const paths = undone.list.plugins.flatMap((plugin) => placesOf(call, undone, plugin).map(({ path }) => path));
  const noted = paths.length === 0 ? ok(undefined) : new LeaseDirectories(call.configuration.cniDir).add(paths);
  if (!noted.ok) call.warn(noted.fault.msg);
}

async function freeOf(call: Call, undone: UndoneAttachment, index: number, plugin: PluginConf): Promise<Result<void>> {
  const ipam = plugin.ipamType ?? plugin.type;
  const { entry, list, attachment, isGone } = undone;
  const places = placesOf(call, undone, plugin);
  if (undone.result === undefined) await freeOwnerless(call, undone, ipam, places);
  const looks = places.map((place) => ({ place, addresses: lookIn(place, undone, plugin) }));
  const held = looks.flatMap(({ addresses }) => (addresses === "unseen" ? [] : addresses));
  if (held.length > 0) {
    call.warn(
      `DEL of plugin ${plugin.type} left address ${held.join(", ")} of network ${list.name} reserved for container ${attachment.containerId}, ` +
        `${attachment.ifname}: ${ipam}'s DEL is called by itself`,
    );
    const called = await callIpam(call, undone, index, plugin);
    const faults: Fault[] = called.ok ? [] : [called.fault];
    for (const place of places) {
      const left = lookIn(place, undone, plugin);
      if (left === "unseen" || left.length === 0) continue;
      const { releaseLeases } = await import("./release-leases.ts");
      const released = await releaseLeases(call, undone, ipam, place);
      if (released.ok) continue;
      const whose = `container ${attachment.containerId}, ${attachment.ifname}`;
      const what = `address ${left.join(", ")} of network ${list.name} stays reserved for ${whose}`;
      const stays = { ...released.fault, msg: `${what}: ${released.fault.msg}` };
      return failed(joinFaults([stays, ...faults]) ?? stays);
    }
    return ok(undefined);
  }
  const isSeen = looks.length > 0 && looks.every(({ addresses }) => addresses !== "unseen");
  if (isSeen || plugin.ipamType === undefined || !mayLeaveAddress(ipam) || !maySkipIpam(plugin.type)) return ok(undefined);
  // Without an ADD nothing was reserved.
  if (entry.plan.assumed === true || (await call.plugins.find(plugin.type)).what === "component") return ok(undefined);
  return (await isGone()) ? callIpam(call, undone, index, plugin) : ok(undefined);
}

/**
 * Frees the network's leases without an owner, after an ADD without a result: it may have failed because they fill the pool. Best effort: a round of
 * the daemon and GC free them, too.
 */
async function freeOwnerless(call: Call, undone: UndoneAttachment, ipam: string, places: readonly LeasePlace[]): Promise<void> {
  const { releaseOwnerless } = await import("./release-leases.ts");
  for (const place of places) {
    const freed = await releaseOwnerless(call, undone, ipam, place);
    if (freed.ok && freed.value === 0) continue;
    const outcome = freed.ok ? `${freed.value} leases without an owner were freed` : `not freed: ${freed.fault.msg}`;
    call.warn(`leases of network ${undone.list.name} in ${place.path}: ${outcome}`);
  }
}

/** The places of the plugin's leases, as the native plugin and the component choose them. */
function placesOf({ configuration }: Call, { planned, list }: UndoneAttachment, plugin: PluginConf): readonly LeasePlace[] {
  const ipam = plugin.ipamType ?? plugin.type;
  const roots = leaseRoots(configuration, planned.definition, ipam, poolsDirectory(configuration.cniDir));
  return leasePlacesOf(plugin, list.name, roots);
}

/**
 * The addresses that the attachment holds. Every lease of the network is read, unless the plugin is known to call its IPAM plugin: then only those of
 * the result's addresses.
 */
function lookIn(
  place: LeasePlace,
  { attachment, list, result }: UndoneAttachment,
  { type }: PluginConf,
): readonly string[] | "unseen" {
  const { containerId, ifname } = attachment;
  const addresses = addressesIn(result);
  const owner = { containerId, ifname, ...(place.pool === undefined ? {} : { network: list.name }) };
  return ownedLeases(place, owner, maySkipIpam(type) || addresses.length === 0 ? undefined : addresses);
}

async function callIpam(
  call: Call,
  { planned, list, result, attachment }: UndoneAttachment,
  index: number,
  plugin: PluginConf,
): Promise<Result<void>> {
  const terms = { list, path: call.request.path, inherited: call.inherited, attachment };
  const ended = await runChain(ipamDelChain(terms, index, plugin, result), call.runStep(planned));
  return ended.ok ? ok(undefined) : failed(ended.fault);
}

/** Maximum milliseconds to wait for another process's lock. */
const lockDeadlineMs = 1000;

/**
 * Frees the leases of a container of which neither journal nor cache knows an attachment: an earlier DEL skipped the IPAM plugin, or the journal was
 * lost. A runtime repeats its DEL until it removes the container, at last with an empty CNI_NETNS.
 *
 * Looks in all directories that networks of this node have used. Only if the container's namespace is gone: no link can have the addresses then.
 * Best effort, because the runtime must not keep the sandbox for them: the rounds report what stays.
 */
export async function freeUnrecorded(call: Call): Promise<void> {
  const { request, configuration, takeLock, warn } = call;
  if (hasOtherRecords(call) || !(await call.namespaceIsGone(request.netns))) return;
  for (const directory of new LeaseDirectories(configuration.cniDir).all) {
    const leases = await leasesOfContainer(directory, request.containerId);
    if (leases.length === 0) continue;
    const freed = await runAsync(removeOrphaned(leases, lockDeadlineMs), takeLock);
    warn(
      `container ${request.containerId} is in no journal and its namespace is gone, but it has leases in ${directory}: ${outcomeOf(freed)}`,
    );
  }
}

function outcomeOf(freed: Result<number>): string {
  return freed.ok ? `${freed.value} were freed` : `not freed: ${freed.fault.msg}`;
}

/** Whether another call has a record of the container: that call's DEL frees what its attachments have. */
function hasOtherRecords({ journal, abandoned, request }: Call): boolean {
  const keys = journal.list();
  const files = abandoned.list();
  if (!keys.ok || !files.ok) return true;
  return [...keys.value, ...files.value.map(({ key }) => key)].some(({ containerId }) => containerId === request.containerId);
}
