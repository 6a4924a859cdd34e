// Attaches a network of a running container again whose link was lost: the same name, hardware address, addresses and routes. The leases stay as they are,
// so another pod can get none of the addresses meanwhile.

import { announcement } from "../../../host/capabilities/announce/packets.ts";
import type { Call } from "../../../host/engine/call.ts";
import { removeNodeEnd } from "../../../host/engine/record/prepare-undo.ts";
import { addedLink, journalledLinks, leftLink, type LinksBefore } from "../../../host/engine/record/record-add.ts";
import { attachmentOf } from "../../../host/engine/verbs/undo.ts";
import { podLinks } from "../../../host/store/journal/entry-file.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { JournalEntry, PlannedAttachment } from "../../../host/store/journal/entry.ts";
import { macBytes } from "../../../host/system/netlink/bytes.ts";
import { deadlineMs } from "../../../host/system/netlink/exchange.ts";
import { linkChange } from "../../../host/system/netlink/link-change.ts";
import type { LinkState } from "../../../host/system/netlink/link-state.ts";
import { encodeRequests } from "../../../host/system/netlink/message.ts";
import { findInNamespace, removeLink } from "../../../host/system/netlink/namespace-links.ts";
import { addChain, delChain, runChain } from "../../../src/cni/chains.ts";
import { addressTexts, keepAddresses, withResultMac, withSameMac } from "../../../src/cni/kept-addresses.ts";
import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { fault, located } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { hasName, identityOf, isSameLink, type LinkIdentity, wouldMoveForeign } from "../../../src/pod-link/link-identity.ts";
import type { IsLost } from "../../container-changes.ts";
import { underLock } from "./follow-annotation.ts";
import { isWhole, journalledResult, runningContainer } from "./running-container.ts";

/** The links of the pod before the repair: the attachment's own, if the pod has it, and all others. */
interface LinksOfPod {
  readonly own: LinkState | undefined;
  readonly others: LinksBefore;
}

/** One attachment that is to be attached again. */
interface Lost {
  readonly entry: JournalEntry;
  readonly index: number;
  readonly planned: PlannedAttachment;
  /** The link of its ADD; undefined if an earlier repair broke off. */
  readonly made: LinkIdentity | undefined;
  /** The result of its ADD, as text. */
  readonly result: string;
  /** Its list, whose IPAM plugins answer the addresses of the result. */
  readonly list: NetworkList;
}

/**
 * Attaches the network of this interface again. The call must be an ADD. Takes the container's lock. Answers `held` if the link is not lost: the link, or the whole
 * attachment, may have come back while the call waited for the lock. Faults: HOT_PLUG_REFUSED for an attachment that must not be
 * touched: one of the runtime's own network, one whose link the pod has renamed, or whose name another link has; those of plugins.
 */
export async function repairAttachment(
  call: Call,
  key: JournalKey,
  ifname: string,
  isLost: IsLost,
): Promise<Result<"repaired" | "held">> {
  return underLock<"repaired" | "held">(call, key, async () => {
    const container = await runningContainer(call, key);
    if (!container.ok) return container;
    const { entry, before } = container.value;
    const lost = lostAttachment(entry, ifname, before.links);
    if (!lost.ok) return lost;
    const stillLost = await isLost(entry);
    if (!stillLost.ok) return stillLost;
    if (!stillLost.value) return ok("held");
    const own = before.links.find((link) => lost.value.made !== undefined && isSameLink(lost.value.made, link));
    // A device that moves out of the pod and back has its index again.
    const others = { ...before, links: before.links.filter((link) => link !== own) };
    const attached = await attachAgain(call, lost.value, { own, others });
    return attached.ok ? ok("repaired") : failed(located(attached.fault, lost.value.planned.source, ifname));
  });
}

function lostAttachment(entry: JournalEntry, ifname: string, links: readonly LinkState[]): Result<Lost> {
  const { plan, progress, pod } = entry;
  const refuse = (why: string): Result<never> =>
    failed(fault("HOT_PLUG_REFUSED", `interface ${ifname} of container ${plan.containerId}: ${why}`));
  const index = plan.attachments.findIndex((each) => each.ifname === ifname);
  const [planned, state] = [plan.attachments[index], progress[index]];
  if (planned === undefined || state?.result === undefined || !isWhole(state))
    return refuse("the journal has no whole attachment");
  if (index === 0) return refuse("the runtime's own network is not attached again");
  const made = pod?.made?.find(({ name }) => name === ifname);
  const own = links.find((link) => made !== undefined && isSameLink(made, link));
  if (own !== undefined && own.name !== ifname) return refuse(`the pod has renamed its link to ${own.name}`);
  const named = links.find((link) => hasName(link, ifname));
  if (named !== own) return refuse("another link, which Plexus did not make, has its name");
  const list = parseNetworkList(planned.conflist, `journalled configuration of ${planned.network}`);
  if (!list.ok) return list;
  const result = journalledResult(state.result);
  if (result === undefined) return refuse("its result cannot be read");
  const kept = keepAddresses(list.value, result);
  return kept.ok ? ok({ entry, index, planned, made, result: state.result, list: kept.value }) : kept;
}

async function attachAgain(call: Call, lost: Lost, { own, others }: LinksOfPod): Promise<Result<void>> {
  const { entry, index, planned, made } = lost;
  const { key, netns } = { key: entry.plan, netns: entry.plan.netns };
  // Without the index of a link, names decide: a crash from here on leaves an attachment that is tried again, or undone, by its name.
  const without = podLinks({ ...known(entry), made: entry.pod?.made?.filter(({ name }) => name !== planned.ifname) });
  const noted = call.journal.append(key, { pod: without });
  if (!noted.ok) return noted;
  const cleared = await clear(call, lost, own);
  if (!cleared.ok) return cleared;
  const added = await add(call, lost);
  if (!added.ok) {
    call.deadline.undo();
    const left = await leftLink(call, netns, { ifname: planned.ifname, before: others, known: without });
    await clear(call, lost, undefined, (await movesForeign(call, lost)) ? "" : netns);
    // Plugins find the link by its name, which the pod may have changed.
    if (left.ok && left.value !== undefined) await removeLeft(call, netns, left.value);
    return added;
  }
  const mended = await settleMac(call, lost, added.value, others);
  if (!mended.ok) return mended;
  const { text, link } = mended.value;
  const repaired = link === undefined ? [] : [{ ...identityOf(link), name: planned.ifname }];
  const all = [...(without.made ?? []), ...(await journalledLinks(call.shim, call.configuration, repaired))];
  const links = podLinks({ ...known(entry), made: all });
  for (const record of [{ attached: index, result: text }, { pod: links }]) {
    const written = call.journal.append(key, record);
    if (!written.ok) return written;
  }
  const read = readResult(text, "1.1.0", "result of the repair");
  if (read.ok) {
    const attachment = attachmentOf(entry, planned, netns);
    await call.cache.write({ list: lost.list, conflist: planned.conflist, attachment, binding: bindingOf(planned) }, read.value);
  }
  call.warn(
    `network ${planned.source} as ${planned.ifname} was attached again${made === undefined ? "" : `: its link ${made.index} was lost`}`,
  );
  return ok(undefined);
}

/** Whether the plugins' DEL would move a link to the node that the pod has made under the interface's name meanwhile. */
async function movesForeign(call: Call, { entry, planned, list }: Lost): Promise<boolean> {
  const seen = await findInNamespace(call.shim, entry.plan.netns, { indexes: [], names: [planned.ifname] });
  return seen.ok && seen.value !== "gone" && wouldMoveForeign(list.plugins, seen.value.links[0]);
}

function known({ pod }: JournalEntry): {
  readonly cookie: string | undefined;
  readonly earlier: readonly LinkIdentity[] | undefined;
} {
  return { cookie: pod?.cookie, earlier: pod?.earlier };
}

/** The plugins' DEL, and the removal of the link where they leave it. Plugins of a pod without the link get no namespace: some fail without their link. */
async function clear(
  call: Call,
  { entry, planned, made, list, result }: Lost,
  own: LinkState | undefined,
  netns = "",
): Promise<Result<void>> {
  const place = own === undefined ? netns : entry.plan.netns;
  const attachment = attachmentOf(entry, planned, place);
  const { network, ifname, definition } = planned;
  const chain = delChain({ list, path: call.request.path, inherited: call.inherited, attachment }, result);
  const ended = await runChain(chain, call.runStep({ network, ifname, definition, ownLinks: entry.pod?.made }));
  if (!ended.ok) return failed(ended.fault);
  if (own === undefined) return made === undefined ? ok(undefined) : removeNodeEnd(call.shim, made);
  return removeLeft(call, entry.plan.netns, own);
}

/** Removes the link if the plugins' DEL has left it. */
async function removeLeft({ shim }: Call, netns: string, link: LinkState): Promise<Result<void>> {
  const seen = await findInNamespace(shim, netns, { indexes: [link.index], names: [] });
  if (!seen.ok) return seen;
  const left = seen.value === "gone" ? undefined : seen.value.links.find((each) => isSameLink(link, each));
  return left === undefined ? ok(undefined) : removeLink(shim, netns, left);
}

async function add(call: Call, { entry, planned, made, list, result }: Lost): Promise<Result<PluginResult>> {
  const { network, ifname, definition } = planned;
  const attachment = withSameMac(attachmentOf(entry, planned, entry.plan.netns), made?.mac ?? macIn(result, ifname));
  const chain = addChain({
    list,
    path: call.request.path,
    inherited: call.inherited,
    attachment,
    withoutResult: () => undefined,
  });
  const ended = await runChain(chain, call.runStep({ network, ifname, definition }));
  if (!ended.ok) return failed(ended.fault);
  const before = journalledResult(result);
  const [wanted, got] = [before, ended.value.result].map((each) =>
    each === undefined ? "" : addressTexts(each, ifname).join(" "),
  );
  if (wanted === got) return ok(ended.value);
  return failed(fault("RESULT_INVALID", `its plugins answered the addresses ${got} instead of ${wanted}`));
}

function macIn(text: string, ifname: string): string {
  return journalledResult(text)?.interfaces.find(({ name, sandbox = "" }) => name === ifname && sandbox !== "")?.mac ?? "";
}

/** Gives the new link the hardware address of the lost one where its plugin could not, and announces its addresses then. */
async function settleMac(
  call: Call,
  { entry, planned, made, result }: Lost,
  { text, result: added }: PluginResult,
  before: LinksBefore,
): Promise<Result<{ readonly text: string; readonly link: LinkState | undefined }>> {
  const { netns } = entry.plan;
  const found = await addedLink(call, netns, { ifname: planned.ifname, result: added, before });
  if (!found.ok) return found;
  const link = found.value;
  const mac = made?.mac ?? macIn(result, planned.ifname);
  const wanted = macBytes(mac);
  if (link === undefined || wanted === undefined || link.mac === mac || link.kind === "ipvlan") return ok({ text, link });
  const change = encodeRequests([linkChange(link.index, { mac })]);
  await call.shim.netlink({ path: netns, request: change, deadlineMs });
  const addresses = addressTexts(added, planned.ifname).flatMap((each) => readCidr(each)?.address ?? []);
  const packets = addresses.map((address) => announcement(address, wanted, false));
  if (packets.length > 0) await call.shim.packet({ path: netns, index: link.index, packets });
  return ok({ text: withResultMac(text, planned.ifname, mac), link: { ...link, mac } });
}

function bindingOf({
  definition,
}: PlannedAttachment): { readonly definition: NonNullable<PlannedAttachment["definition"]> } | undefined {
  return definition === undefined ? undefined : { definition };
}
