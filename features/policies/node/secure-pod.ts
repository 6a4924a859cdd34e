// Writes a pod's policies at the node's ends of its veths: in the ADD before the runtime is answered, after a hot-plugged interface is made, and after changes.

import { readAddress } from "../../../src/net/ip.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { AttachedFacts, GuardContext, GuardedInterface, GuardedPod } from "../../../host/engine/planned/plan-feature.ts";
import { findInNamespace } from "../../../host/system/netlink/namespace-links.ts";
import { isolatedInterfaces, type NodeEnd, nodeTable } from "../rules/node-table.ts";
import type { PolicyTable } from "../rules/table.ts";
import { decideTable, policyFault } from "./decide-table.ts";
import { endTable, removeEnds, writeEnds } from "./end-table.ts";
import { forgetEnds, hasLeftEnds, noteEnds, writtenEnds } from "./guarded-ends.ts";
import { writtenTable } from "./guarded-pods.ts";
import { isRedirected } from "./redirected-end.ts";

/** After interfaces are made: with `failure: open` a failure is a warning. Fault POLICY_FAILED. */
export async function securePod(context: GuardContext, guarded: GuardedPod): Promise<Result<void>> {
  // The guard has written the pod's own table before.
  const written = writtenTable(guarded.containerId, guarded.netns);
  const table = written === undefined ? await decideTable(context, guarded) : ok(written.table);
  const done = table.ok ? await secureEnds(context, guarded, table.value, false) : table;
  if (done.ok || context.configuration.policies?.failure !== "open") return done;
  const { namespace, name } = guarded.pod;
  context.warn(
    `pod ${namespace}/${name} starts without its policies at the node's end (policies.failure is open): ${done.fault.msg}`,
  );
  return ok(undefined);
}

/** Removes the table of a container whose attachments are undone. */
export async function releasePod({ configuration, shim, warn }: GuardContext, containerId: string): Promise<void> {
  forgetEnds(containerId);
  const removed = await removeEnds(shim, endTable(configuration.cniDir, containerId));
  // Without its device the table costs memory only, and the daemon's next round removes it.
  if (!removed.ok) warn(`policies at the node's end of container ${containerId}: ${removed.fault.msg}`);
}

/**
 * Brings the table at the node's ends up to date. `table`: the pod's own. `anew`: writes the whole table, whatever was written before. An interface that no end
 * filters is a fault once the ends of the others are written. Fault POLICY_FAILED.
 */
export async function secureEnds(
  { configuration, shim }: GuardContext,
  { containerId, netns, pod, interfaces }: GuardedPod,
  table: PolicyTable | undefined,
  anew: boolean,
): Promise<Result<void>> {
  const at = endTable(configuration.cniDir, containerId);
  const before = writtenEnds(containerId, netns);
  const isolated = table === undefined ? new Set<string>() : isolatedInterfaces(table);
  const isAtNode = configuration.policies?.enforceAt === "node";
  if (!isAtNode && before === undefined && !hasLeftEnds(containerId)) return ok(undefined);
  const found = isAtNode ? await nodeEnds(shim, interfaces, isolated) : ok({ ends: [], devices: "", unfiltered: [] });
  if (!found.ok) return failed(policyFault(`pod ${pod.namespace}/${pod.name}: ${found.fault.msg}`));
  const { ends, devices, unfiltered } = found.value;
  const wanted = nodeTable(ends, table, configuration.policies?.established ?? "keep");
  const isAnew = anew || before?.devices !== devices;
  const written = wanted === undefined ? await removeEnds(shim, at) : await writeEnds(shim, at, before?.table, wanted, isAnew);
  noteEnds(containerId, written.ok ? { netns, table: wanted, pod: table, devices } : undefined);
  if (!written.ok) return failed(policyFault(`node's ends of pod ${pod.namespace}/${pod.name}: ${written.fault.msg}`));
  if (unfiltered.length > 0) return failed(policyFault(`pod ${pod.namespace}/${pod.name}: ${unfiltered.join("; ")}`));
  return written;
}

interface FoundEnds {
  readonly ends: readonly NodeEnd[];
  /** The ends' devices by name and index. */
  readonly devices: string;
  /** A sentence for each interface that no end filters: isolated without an end, or redirected past its end. The other interfaces keep their rules. */
  readonly unfiltered: readonly string[];
}

/** The ends of the interfaces that policies isolate, and of those of networks that a policy can name. Faults: those of asking the kernel. */
async function nodeEnds(
  shim: GuardContext["shim"],
  interfaces: readonly GuardedInterface[],
  isolated: ReadonlySet<string>,
): Promise<Result<FoundEnds>> {
  const ends: NodeEnd[] = [];
  const devices: string[] = [];
  const unfiltered: string[] = [];
  for (const each of interfaces) {
    const { ifname, source, podNetwork, attached } = each;
    const isNamed = source.includes("/") || podNetwork !== undefined;
    if (attached === undefined || !(isNamed || isolated.has(ifname))) continue;
    const device = await deviceOf(shim, attached);
    if (!device.ok) return device;
    const redirected = device.value === undefined ? ok(false) : await isRedirected(shim, device.value.index);
    if (!redirected.ok) return redirected;
    if (redirected.value) unfiltered.push(redirection(each, device.value?.name ?? ""));
    const addresses = attached.addresses.flatMap((text) => readAddress(text) ?? []);
    if (device.value !== undefined && addresses.length > 0) {
      const mac = (attached.link?.mac ?? "").split(":").map((byte) => Number.parseInt(byte, 16));
      ends.push({ ifname, device: device.value.name, mac, addresses });
      devices.push(`${device.value.name} ${device.value.index}`);
    } else if (isolated.has(ifname) && (attached.isNew || device.value !== undefined || !hadEnd(each)))
      unfiltered.push(withoutEnd(each, device.value === undefined));
  }
  return ok({ ends, devices: devices.join(), unfiltered });
}

function hadEnd({ attached }: GuardedInterface): boolean {
  return attached?.link?.kind === "veth" && attached.link.peer !== undefined;
}

function withoutEnd({ ifname, source, attached }: GuardedInterface, isMissing: boolean): string {
  const kind = attached?.link?.kind === "" ? "a device" : `of kind ${attached?.link?.kind ?? "unknown"}`;
  const why = isMissing
    ? `its link is ${kind} and has no end on the node that could filter`
    : "its network gives it no address that could be pinned";
  return `interface ${ifname} of network ${source}: ${why}. Attach the network by a plugin that makes a veth, such as bridge or ptp, with addresses, or set policies.enforceAt to pod`;
}

function redirection({ ifname, source }: GuardedInterface, device: string): string {
  return `interface ${ifname} of network ${source}: traffic control leads the packets of ${device} to another device, past the policies. Remove egressRate of the plugin bandwidth from the network, or set policies.enforceAt to pod`;
}

/**
 * The node's end; undefined: none. The index and the kind are those of the ADD, and the kernel gives an index to no other link of a boot. What the
 * other end shows counts only right after the ADD: the pod may since have moved its end elsewhere.
 */
async function deviceOf(
  shim: GuardContext["shim"],
  { link: made, isNew }: AttachedFacts,
): Promise<Result<{ readonly name: string; readonly index: number } | undefined>> {
  if (made?.kind !== "veth" || made.peer === undefined) return ok(undefined);
  const seen = await findInNamespace(shim, "", { indexes: [made.peer], names: [] });
  if (!seen.ok) return seen;
  const end = seen.value === "gone" ? undefined : seen.value.links.find(({ index }) => index === made.peer);
  const isEnd = end?.kind === "veth" && end.linkNamespace !== undefined && (!isNew || end.link === made.index);
  return ok(isEnd ? { name: end.name, index: end.index } : undefined);
}
