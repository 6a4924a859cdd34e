// Which networks GC tells which attachments are valid. What is not in such a list, its plugins give away: an attachment may be
// missing from it only if it is known to be none.

import { attachmentKey, type AttachmentId } from "../../src/cni/attachment.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";

/** A call's attachments that stay; `entry` is undefined where none can be read. */
export interface Standing {
  readonly id: AttachmentId;
  readonly entry: JournalEntry | undefined;
}

export interface KnownNetwork {
  readonly list: NetworkList;
  readonly attachments: Map<string, AttachmentId>;
}

/**
 * The default network and every network that is attached to what stands, each with its valid attachments. The runtime's own
 * list holds for the default network, which attaches under the runtime's interface name. Where neither journal nor cache
 * knows what a standing call attached, only the default network is answered, and a warning says so.
 */
export function knownNetworks(
  context: Pick<CallContext, "document" | "configuration" | "cache" | "warn">,
  valid: readonly AttachmentId[],
  standing: readonly Standing[],
): Result<readonly KnownNetwork[]> {
  const defaultNetwork = readDefaultNetwork(context.document, context.configuration);
  if (!defaultNetwork.ok) return defaultNetwork;
  const main: KnownNetwork = { list: defaultNetwork.value, attachments: new Map(valid.map((id) => [attachmentKey(id), id])) };
  const known = new Map([[main.list.name, main]]);
  let unknown = 0;
  for (const { id, entry } of standing) {
    const attached = entry === undefined ? [] : journalled(entry);
    const all = attached.length > 0 ? attached : cached(context, id.containerId);
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
  context.warn(`GC looks at network ${main.list.name} only: what else ${unknown} valid attachments have is not known`);
  return ok([main]);
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

function cached({ cache }: Pick<CallContext, "cache">, containerId: string): readonly AttachedTo[] {
  return cache.attachments(containerId).map(({ list, attachment }) => ({ list, ifname: attachment.ifname }));
}
