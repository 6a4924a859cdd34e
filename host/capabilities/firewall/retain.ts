// Removes the rules of attachments that are gone (GC).

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { deleteFlowsThrough } from "./conntrack.ts";
import { detaching, removing } from "./changes.ts";
import { readReferences, readRules } from "./installed-rules.ts";
import { ask, type NetlinkShim, type Change, commit, refusalFault } from "./kernel.ts";
import type { PortMapping } from "./mappings.ts";
import { chainsRequest } from "./nf-tables.ts";
import { chainIn } from "./nf-answers.ts";
import { type IpTable, PLEXUS_TABLE } from "./nf-request.ts";
import { attachmentPart, type NetworkDelegate, prefixOf, purposes } from "./owner.ts";
import { mappingIn } from "./rule-comments.ts";

const families = [4, 6] as const;

/** Removes the rules of this delegate and network for attachments that are not in `valid`. Answers the attachments' parts of the chain names. */
export async function retain(
  shim: NetlinkShim,
  delegate: NetworkDelegate,
  valid: readonly AttachmentId[],
): Promise<Result<ReadonlySet<string>>> {
  const kept = new Set(valid.map(attachmentPart));
  const removed = new Set<string>();
  const action = `removing the rules of attachments that are no longer in the network ${delegate.network}`;
  for (const family of families) {
    const table = { family };
    const stale = await staleChains(shim, table, delegate, kept);
    if (!stale.ok) return stale;
    if (stale.value.length === 0) continue;
    const names = stale.value.map(({ name }) => name);
    const references = await readReferences(shim, table, new Set(names));
    if (!references.ok) return references;
    const mappings = await mappingsOf(
      shim,
      table,
      names.filter((name) => name.startsWith(prefixOf("ports", delegate))),
    );
    if (!mappings.ok) return mappings;
    // The chains are removed last: their comments tell an interrupted GC's successor which flows to delete.
    const detached = await send(shim, detaching(table, references.value, new Set(names), action));
    if (!detached.ok) return detached;
    await deleteFlowsThrough(shim, mappings.value);
    const gone = await send(shim, removing(table, names, action));
    if (!gone.ok) return gone;
    for (const { attachment } of stale.value) removed.add(attachment);
  }
  return ok(removed);
}

async function send(shim: NetlinkShim, changes: readonly Change[]): Promise<Result<undefined>> {
  if (changes.length === 0) return ok(undefined);
  const refusals = await commit(shim, changes);
  if (!refusals.ok) return refusals;
  const [first] = refusals.value;
  return first === undefined ? ok(undefined) : failed(refusalFault(first));
}

/** The port mappings in chains of rules. */
async function mappingsOf(shim: NetlinkShim, table: IpTable, chains: readonly string[]): Promise<Result<readonly PortMapping[]>> {
  const found: PortMapping[] = [];
  for (const chain of chains) {
    const rules = await readRules(shim, table, chain);
    if (!rules.ok) return rules;
    found.push(...rules.value.flatMap(({ comment }) => mappingIn(comment) ?? []));
  }
  return ok(found);
}

async function staleChains(
  shim: NetlinkShim,
  table: IpTable,
  delegate: NetworkDelegate,
  kept: ReadonlySet<string>,
): Promise<Result<readonly { readonly name: string; readonly attachment: string }[]>> {
  const answers = await ask(shim, [chainsRequest(table)], "listing the chains");
  if (!answers.ok) return answers;
  const chains = answers.value.flatMap(({ messages }) => messages.flatMap((message) => chainIn(message) ?? []));
  const prefixes = purposes.map((purpose) => prefixOf(purpose, delegate));
  return ok(
    chains.flatMap(({ tableName, name }) => {
      const prefix = tableName === PLEXUS_TABLE ? prefixes.find((each) => name.startsWith(each)) : undefined;
      const attachment = prefix === undefined ? undefined : name.slice(prefix.length);
      return attachment === undefined || kept.has(attachment) ? [] : [{ name, attachment }];
    }),
  );
}
