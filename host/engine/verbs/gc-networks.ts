// The second part of GC: each network's plugins get a list of valid attachments. Plugins release the resources of all others, so an
// attachment may be missing in a list only if it certainly does not exist.

import { attachmentKey, type AttachmentId } from "../../../src/cni/attachment.ts";
import { gcChain } from "../../../src/cni/gc-chain.ts";
import { type NetworkList, parseNetworkList, type PluginConf } from "../../../src/cni/network-list.ts";
import { versionAtLeast } from "../../../src/cni/versions.ts";
import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { removeTornWrites } from "../../store/files/durable-file.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";
import type { CurrentNetworks } from "../plan/current-network.ts";
import { readDefaultNetwork } from "../plan/default-network.ts";
import type { GcPlan, GcRound } from "./gc-plan.ts";
import { runChain } from "../../../src/cni/chains.ts";

/** Maximum milliseconds of one plugin's GC. All other calls wait meanwhile, so it is a fraction of the time that they wait for a lock. */
const stepMs = 15_000;

/** A network with its valid attachments, by `attachmentKey`. */
export interface KnownNetwork {
  readonly list: NetworkList;
  /** Where the list came from; undefined if only the result cache knows the network. */
  readonly source: string | undefined;
  /** The definition that binds the network's plugins; undefined if the administrator configured the network. */
  readonly definition: DefinitionName | undefined;
  readonly attachments: Map<string, AttachmentId>;
}

/** Whether the network's plugins support GC (CNI 1.1.0), and no list of today disables it. */
export async function supportsGc(networks: CurrentNetworks, { list, source }: KnownNetwork): Promise<boolean> {
  const since = versionAtLeast(list.cniVersion, "1.1.0");
  if (!since.ok || !since.value) return false;
  return networks.mayCollect(list, { network: list.name, ...(source === undefined ? {} : { source }) });
}

/** Removes torn files of killed calls. The lock excludes all other calls, so none is writing. */
export async function removeTornFiles({ call, faults }: GcRound): Promise<void> {
  const lock = await call.locks.everything();
  if (!lock.ok) return void faults.push(lock.fault);
  for (const { directory } of [call.journal, call.cache, call.abandoned]) removeTornWrites(directory);
  lock.value();
}

/** Runs one plugin's GC with the attachments that are valid now. The lock excludes all other calls meanwhile (L-46). */
export async function runPluginGc({ call, plan, faults }: GcRound, list: NetworkList, plugin: PluginConf): Promise<void> {
  const lock = await call.locks.everything();
  if (!lock.ok) return void faults.push(lock.fault);
  try {
    const networks = knownNetworks(call, plan, false);
    const network = networks.ok ? networks.value.find((each) => each.list.name === list.name) : undefined;
    if (network === undefined) return;
    const chain = gcChain(
      { list: { ...list, plugins: [plugin] }, path: call.request.path, inherited: call.inherited },
      [...network.attachments.values()],
      [],
    );
    const { definition } = network;
    const identity = { network: list.name, ifname: "", definition, knownContainers: plan.knownContainers };
    const ended = await runChain(chain, call.runStep(identity, stepMs));
    if (!ended.ok) faults.push(ended.fault);
  } finally {
    lock.value();
  }
}

/** A call whose attachments stay. `entry` is undefined if the journal has no readable entry. */
interface StayingCall {
  readonly id: AttachmentId;
  readonly entry: JournalEntry | undefined;
}

/**
 * The default network and every network with an attachment that stays, each with its valid attachments (L-44). The runtime's list has
 * the interface name of the call ("id, eth0"). That is also the name in the default network, but another network knows the name that
 * Plexus chose ("id, net1"). If neither journal nor cache knows the attachments of a staying call, the result is the default network
 * only (D-14). `warn`: whether to warn of that.
 */
export function knownNetworks(call: Call, plan: GcPlan, warn: boolean): Result<readonly KnownNetwork[]> {
  const defaultNetwork = readDefaultNetwork(call);
  if (!defaultNetwork.ok) return defaultNetwork;
  const staying = stayingCalls(call, plan);
  if (!staying.ok) return staying;
  const main: KnownNetwork = {
    list: defaultNetwork.value,
    source: "default",
    definition: undefined,
    attachments: new Map(plan.valid.map((id) => [attachmentKey(id), id])),
  };
  const known = new Map([[main.list.name, main]]);
  let unknown = 0;
  for (const { id, entry } of staying.value) {
    const attached = entry === undefined ? [] : journalled(entry);
    const all = attached.length > 0 ? attached : cached(call, id);
    if (all.length === 0) {
      unknown += 1;
      main.attachments.set(attachmentKey(id), id);
    }
    for (const { list, source, ifname, definition } of all) {
      const network = known.get(list.name) ?? { list, source, definition, attachments: new Map<string, AttachmentId>() };
      const networkId = { containerId: id.containerId, ifname };
      network.attachments.set(attachmentKey(networkId), networkId);
      known.set(list.name, network);
    }
  }
  if (unknown === 0) return ok([...known.values()]);
  if (warn) {
    const why = `the further networks of ${unknown} valid attachments are unknown, because journal and cache have no entry for them`;
    call.warn(`GC is limited to network ${main.list.name}: ${why}`);
  }
  return ok([main]);
}

/** The calls whose attachments stay: valid calls, calls of other configurations, and calls that began after this GC. */
function stayingCalls({ journal, configuration }: Call, plan: GcPlan): Result<StayingCall[]> {
  const listed = journal.list();
  if (!listed.ok) return listed;
  const staying: StayingCall[] = [];
  const journalledHere = new Set<string>();
  for (const key of listed.value) {
    if (key.network === configuration.name) journalledHere.add(attachmentKey(key));
    const loaded = journal.load(key);
    const entry = loaded.ok ? loaded.value : undefined;
    if (plan.isValid(key) || !plan.isStale(key, entry)) {
      staying.push({ id: { containerId: key.containerId, ifname: key.ifname }, entry });
    }
  }
  for (const id of plan.valid) if (!journalledHere.has(attachmentKey(id))) staying.push({ id, entry: undefined });
  return ok(staying);
}

interface AttachedTo {
  readonly list: NetworkList;
  readonly source: string | undefined;
  readonly ifname: string;
  readonly definition: DefinitionName | undefined;
}

/** All attachments of the entry, or none if the list of one of them is unreadable. */
function journalled({ plan }: JournalEntry): readonly AttachedTo[] {
  const all = plan.attachments.flatMap(({ network, source, ifname, conflist, definition }): AttachedTo[] => {
    const list = parseNetworkList(conflist, `journalled configuration of ${network}`);
    return list.ok ? [{ list: list.value, source, ifname, definition }] : [];
  });
  return all.length === plan.attachments.length ? all : [];
}

function cached({ cache }: Call, { containerId, ifname }: AttachmentId): readonly AttachedTo[] {
  return cache
    .attachments(containerId, ifname)
    .map(({ list, attachment, definition }) => ({ list, source: undefined, ifname: attachment.ifname, definition }));
}
