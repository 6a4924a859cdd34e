// GC's second part: which networks are told which attachments are valid. What is not in such a list, its plugins give away: an
// attachment may be missing from it only if it is known to be none.

import { attachmentKey, type AttachmentId } from "../../src/cni/attachment.ts";
import { gcChain } from "../../src/cni/gc-chain.ts";
import { type NetworkList, parseNetworkList, type PluginConf } from "../../src/cni/network-list.ts";
import { versionAtLeast } from "../../src/cni/versions.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { removeTornWrites } from "../files/durable-file.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import type { GcPlan, GcRound } from "./gc-plan.ts";
import { removeAbandonedNests } from "./nest-directory.ts";
import { runChain } from "./run-chain.ts";

/** Everybody waits while a plugin does its GC: for no longer than a fraction of what a call waits for a lock. */
const exclusiveStepMs = 15_000;

export interface KnownNetwork {
  readonly list: NetworkList;
  readonly attachments: Map<string, AttachmentId>;
}

/** Whether the plugins of a list are asked for GC (CNI 1.1.0). */
export function speaksGc({ cniVersion, disableGC }: NetworkList): boolean {
  const since = versionAtLeast(cniVersion, "1.1.0");
  return !disableGC && since.ok && since.value;
}

/** Removes what killed calls left: nobody writes now. */
export async function sweep({ context, faults }: GcRound): Promise<void> {
  const alone = await context.locks.everything();
  if (!alone.ok) return void faults.push(alone.fault);
  for (const { directory } of [context.journal, context.cache, context.leftBehind]) removeTornWrites(directory);
  removeAbandonedNests(context.configuration.runDir);
  alone.value();
}

/** GC of one plugin, with the attachments that are valid at that moment, which nobody changes meanwhile (L-46). */
export async function tellPlugin({ context, plan, faults }: GcRound, list: NetworkList, plugin: PluginConf): Promise<void> {
  const alone = await context.locks.everything();
  if (!alone.ok) return void faults.push(alone.fault);
  try {
    const networks = knownNetworks(context, plan, false);
    const network = networks.ok ? networks.value.find((each) => each.list.name === list.name) : undefined;
    if (network === undefined) return;
    const chain = gcChain(
      { list: { ...list, plugins: [plugin] }, path: context.call.path, inherited: context.inherited },
      { valid: [...network.attachments.values()], stale: [] },
    );
    const ended = await runChain(chain, context.runStep(list.name, "", exclusiveStepMs));
    if (!ended.ok) faults.push(ended.fault);
  } finally {
    alone.value();
  }
}

/** A call's attachments that stay; `entry` is undefined where none can be read. */
interface Standing {
  readonly id: AttachmentId;
  readonly entry: JournalEntry | undefined;
}

/**
 * The default network and every network that is attached to what stands, each with its valid attachments in its own terms (L-44):
 * the runtime names the attachment that it asked for ("id, eth0"), the network knows the one that was made for it ("id, net1"). The
 * runtime's own list holds for the default network, which attaches under the runtime's interface name. Where neither journal nor
 * cache knows what a standing call attached, only the default network is answered (D-14), and `warn` says so.
 */
export function knownNetworks(
  context: Pick<CallContext, "document" | "configuration" | "cache" | "journal" | "warn">,
  plan: GcPlan,
  warn: boolean,
): Result<readonly KnownNetwork[]> {
  const defaultNetwork = readDefaultNetwork(context);
  if (!defaultNetwork.ok) return defaultNetwork;
  const standing = standingCalls(context, plan);
  if (!standing.ok) return standing;
  const main: KnownNetwork = {
    list: defaultNetwork.value,
    attachments: new Map(plan.valid.map((id) => [attachmentKey(id), id])),
  };
  const known = new Map([[main.list.name, main]]);
  let unknown = 0;
  for (const { id, entry } of standing.value) {
    const attached = entry === undefined ? [] : journalled(entry);
    const all = attached.length > 0 ? attached : cached(context, id);
    if (all.length === 0) {
      unknown += 1;
      main.attachments.set(attachmentKey(id), id);
    }
    for (const { list, ifname } of all) {
      const network = known.get(list.name) ?? { list, attachments: new Map<string, AttachmentId>() };
      const own = { containerId: id.containerId, ifname };
      network.attachments.set(attachmentKey(own), own);
      known.set(list.name, network);
    }
  }
  if (unknown === 0) return ok([...known.values()]);
  if (warn) context.warn(`GC looks at network ${main.list.name} only: what else ${unknown} valid attachments have is not known`);
  return ok([main]);
}

/** What stays: valid calls, journalled or not, those of other configurations, and those that came after GC began. */
function standingCalls(
  { journal, configuration }: Pick<CallContext, "journal" | "configuration">,
  plan: GcPlan,
): Result<Standing[]> {
  const listed = journal.list();
  if (!listed.ok) return listed;
  const standing: Standing[] = [];
  const journalledHere = new Set<string>();
  for (const key of listed.value) {
    if (key.network === configuration.name) journalledHere.add(attachmentKey(key));
    const loaded = journal.load(key);
    const entry = loaded.ok ? loaded.value : undefined;
    if (plan.isValid(key) || !plan.isStale(key, entry)) {
      standing.push({ id: { containerId: key.containerId, ifname: key.ifname }, entry });
    }
  }
  for (const id of plan.valid) if (!journalledHere.has(attachmentKey(id))) standing.push({ id, entry: undefined });
  return ok(standing);
}

interface AttachedTo {
  readonly list: NetworkList;
  readonly ifname: string;
}

/** All of the entry's attachments; none where one of them can't be read. */
function journalled({ plan }: JournalEntry): readonly AttachedTo[] {
  const all = plan.attachments.flatMap(({ network, ifname, conflist }): AttachedTo[] => {
    const list = parseNetworkList(conflist, `journalled configuration of ${network}`);
    return list.ok ? [{ list: list.value, ifname }] : [];
  });
  return all.length === plan.attachments.length ? all : [];
}

function cached({ cache }: Pick<CallContext, "cache">, { containerId, ifname }: AttachmentId): readonly AttachedTo[] {
  return cache.attachments(containerId, ifname).map(({ list, attachment }) => ({ list, ifname: attachment.ifname }));
}
