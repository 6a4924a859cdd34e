// GC: the runtime says which of its attachments are valid. Everything journalled under this configuration that isn't gets
// its DEL; then every network that is still known gets GC with its own valid list (L-43, L-44, MO-12).

import { rmSync } from "node:fs";
import { type AttachmentId, sameAttachment } from "../../src/cni/attachment.ts";
import { gcChain } from "../../src/cni/gc-chain.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { joinFaults } from "../../src/fault/join-faults.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { removeTornWrites } from "../files/durable-file.ts";
import type { CallContext } from "./call-context.ts";
import { knownNetworks, type Standing } from "./gc-networks.ts";
import { nestDirectory } from "./nest-directory.ts";
import { runChain } from "./run-chain.ts";
import { undoEntry } from "./undo.ts";
import { validAttachments } from "./valid-attachments.ts";

export async function gc(context: CallContext): Promise<Result<void>> {
  const valid = validAttachments(context.document);
  if (!valid.ok) return valid;
  const faults: Fault[] = [];
  const standing = await clearStale(context, valid.value, faults);
  if (!standing.ok) return standing;
  for (const directory of [context.journal.directory, context.cache.directory]) removeTornWrites(directory);

  const networks = knownNetworks(context, valid.value, standing.value);
  if (!networks.ok) faults.push(networks.fault);
  for (const { list, attachments } of networks.ok ? networks.value : []) {
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
  const joined = joinFaults(faults);
  return joined === undefined ? ok(undefined) : failed(joined);
}

/** Undoes what is no longer valid; answers what stays: valid calls, journalled or not, and those of other configurations. */
async function clearStale(
  context: CallContext,
  valid: readonly AttachmentId[],
  faults: Fault[],
): Promise<Result<readonly Standing[]>> {
  const listed = context.journal.list();
  if (!listed.ok) return listed;
  const standing: Standing[] = [];
  const journalled = listed.value.filter(({ network }) => network === context.configuration.name);
  for (const id of valid) {
    if (!journalled.some((key) => sameAttachment(key, id))) standing.push({ id, entry: undefined });
  }
  for (const key of listed.value) {
    const loaded = context.journal.load(key);
    const own = key.network === context.configuration.name;
    if (!loaded.ok && own) faults.push(loaded.fault);
    const entry = loaded.ok ? loaded.value : undefined;
    if (!own || valid.some((id) => sameAttachment(key, id))) {
      standing.push({ id: { containerId: key.containerId, ifname: key.ifname }, entry });
      continue;
    }
    if (entry === undefined) continue;
    // As libcni does (L-43): with the namespace of its ADD; plugins take one that is gone for deleted.
    const undone = await undoEntry(context, entry, entry.plan.netns, {
      choose: (list) => !list.disableGC,
      tell: (cause, { ifname }) => ({
        ...cause,
        msg: `failed to delete stale attachment ${key.containerId} ${ifname}: ${cause.msg}`,
      }),
    });
    if (undone.ok) rmSync(nestDirectory(context.configuration.runDir, key, key.network), { recursive: true, force: true });
    else faults.push(undone.fault);
  }
  return ok(standing);
}
