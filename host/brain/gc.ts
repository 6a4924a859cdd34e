// GC: the runtime says which of its attachments are valid. Everything journalled under this configuration that isn't gets
// its DEL; then every network that is still known gets GC with its own valid list (L-43, L-44, MO-12).

import { rmSync } from "node:fs";
import { attachmentKey, type AttachmentId } from "../../src/cni/attachment.ts";
import { gcChain } from "../../src/cni/gc-chain.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { removeTornWrites } from "../files/durable-file.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { nestDirectory } from "./nest-directory.ts";
import { runChain } from "./run-chain.ts";
import { undoEntry } from "./undo.ts";
import { validAttachments } from "./valid-attachments.ts";

export async function gc(context: CallContext): Promise<Result<void>> {
  const valid = validAttachments(context.document);
  if (!valid.ok) return valid;
  const listed = context.journal.list();
  if (!listed.ok) return listed;

  const faults: Fault[] = [];
  const kept: JournalEntry[] = [];
  for (const key of listed.value) {
    if (key.network !== context.configuration.name) continue;
    const loaded = context.journal.load(key);
    if (!loaded.ok) faults.push(loaded.fault);
    if (!loaded.ok || loaded.value === undefined) continue;
    const isValid = valid.value.some((id) => id.containerId === key.containerId && id.ifname === key.ifname);
    if (isValid) {
      kept.push(loaded.value);
      continue;
    }
    // As libcni does (L-43): with the namespace of its ADD; plugins take one that is gone for deleted.
    const undone = await undoEntry(context, loaded.value, loaded.value.plan.netns, (list) => !list.disableGC);
    if (undone.ok) {
      rmSync(nestDirectory(context.configuration.runDir, key, key.network), { recursive: true, force: true });
    } else {
      const stale = `failed to delete stale attachment ${key.containerId} ${key.ifname}`;
      faults.push({ ...undone.fault, msg: `${stale}: ${undone.fault.msg}` });
    }
  }
  for (const directory of [context.journal.directory, context.cache.directory]) removeTornWrites(directory);

  const networks = knownNetworks(context, kept, valid.value);
  if (!networks.ok) return networks;
  for (const { list, attachments } of networks.value.values()) {
    const chain = gcChain(
      { list, path: context.call.path, inherited: context.inherited },
      {
        valid: [...attachments.values()],
        stale: [],
      },
    );
    const ended = await runChain(chain, context.runStep(list.name, ""));
    if (!ended.ok) faults.push(ended.fault);
  }
  const [first] = faults;
  return first === undefined ? ok(undefined) : failed(first);
}

interface KnownNetwork {
  readonly list: NetworkList;
  readonly attachments: Map<string, AttachmentId>;
}

/**
 * The default network and every network that a valid entry attaches, each with its valid attachments. The runtime's own
 * list holds for the default network, which attaches under the runtime's interface name; others know theirs only.
 */
function knownNetworks(
  context: CallContext,
  kept: readonly JournalEntry[],
  valid: readonly AttachmentId[],
): Result<ReadonlyMap<string, KnownNetwork>> {
  const known = new Map<string, KnownNetwork>();
  const defaultNetwork = readDefaultNetwork(context.document, context.configuration);
  if (!defaultNetwork.ok) return defaultNetwork;
  known.set(defaultNetwork.value.name, {
    list: defaultNetwork.value,
    attachments: new Map(valid.map((id) => [attachmentKey(id), id])),
  });
  for (const entry of kept) {
    for (const planned of entry.plan.attachments) {
      const list = parseNetworkList(planned.conflist, `journalled configuration of ${planned.network}`);
      if (!list.ok) return list;
      const network = known.get(planned.network) ?? { list: list.value, attachments: new Map() };
      const id = { containerId: entry.plan.containerId, ifname: planned.ifname };
      network.attachments.set(attachmentKey(id), id);
      known.set(planned.network, network);
    }
  }
  return ok(known);
}
