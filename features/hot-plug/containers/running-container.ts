// The running container of a journal entry, if its networks may be changed: its ADD is complete, no DEL has begun, and its network namespace is
// the one that the ADD attached.

import { readResult } from "../../../src/cni/read-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { sandboxInterfaces } from "../../../src/npwg/sandbox-interface.ts";
import { showsSameNamespace } from "../../../src/pod-link/link-identity.ts";
import type { AttachmentProgress, JournalEntry } from "../../../host/store/journal/entry.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import {
  findInNamespace,
  lookIntoNamespace,
  type NamespaceLinks,
  type WantedLinks,
} from "../../../host/system/netlink/namespace-links.ts";
import { type Call, isOfAnotherBoot } from "../../../host/engine/call.ts";

/** A container whose networks may be changed while the caller holds its lock. */
export interface RunningContainer {
  readonly entry: JournalEntry;
  /** The links in its network namespace; those of its attachments where not all can be listed. */
  readonly before: NamespaceLinks;
  /** The reason why not all links could be listed; undefined: all are. A pod may make more links than one answer of the kernel holds. */
  readonly unlisted?: Fault;
}

/**
 * Reads the entry of a container and looks at its network namespace. The caller holds the container's lock. Faults: HOT_PLUG_REFUSED with the
 * reason; HOT_PLUG_UNAVAILABLE if the key hotPlug is off or the agent cannot look; those of the journal.
 */
export async function runningContainer(call: Call, key: JournalKey): Promise<Result<RunningContainer>> {
  const loaded = call.journal.load(key);
  if (!loaded.ok) return loaded;
  const entry = loaded.value;
  const name = `container ${key.containerId} (${key.network}, ${key.ifname})`;
  const refuse = (why: string): Result<never> => failed(fault("HOT_PLUG_REFUSED", `${name}: ${why}`));
  if (entry === undefined) return refuse("the journal has no entry for it");
  if (!call.configuration.hotPlug) {
    // The daemon may not know yet that an administrator has switched the key on.
    return failed(
      fault("HOT_PLUG_UNAVAILABLE", `${name}: the key hotPlug is off in the configuration that the runtime passed last`),
    );
  }
  const problem = whyFixed(call, entry);
  if (problem !== undefined) return refuse(problem);
  const path = entry.plan.netns;
  const all = await lookIntoNamespace(call.shim, path);
  const seen = all.ok ? all : await findInNamespace(call.shim, path, linksOfAttachments(entry));
  if (!seen.ok)
    return failed(fault("HOT_PLUG_UNAVAILABLE", `${name}: the agent cannot look into its network namespace: ${seen.fault.msg}`));
  if (seen.value === "gone") return refuse(`its network namespace ${path} is gone`);
  const strange = whyAnotherNamespace(entry, seen.value);
  if (strange !== undefined) return refuse(strange);
  return ok({ entry, before: seen.value, ...(all.ok ? {} : { unlisted: all.fault }) });
}

/** The links by which the changes of an entry's attachments go. */
function linksOfAttachments({ plan, pod }: JournalEntry): WantedLinks {
  const indexes = [...(pod?.made ?? []), ...(pod?.earlier ?? [])].map(({ index }) => index);
  return { indexes, names: plan.attachments.map(({ ifname }) => ifname) };
}

/** The reason why the networks of an entry's container cannot be changed; undefined without one. */
function whyFixed(call: Call, entry: JournalEntry): string | undefined {
  const { configuration } = call;
  if (configuration.retired) return "Plexus is being removed from this node";
  if (entry.plan.attachments[0]?.hotPlug === undefined) {
    return "it was attached before the key hotPlug was switched on; create its pod anew";
  }
  if (isOfAnotherBoot(call, entry)) return "it belongs to an earlier boot";
  if (!entry.closed) return "its ADD is not complete";
  if (entry.failures.count > 0 || entry.progress.some(({ undone }) => undone)) return "its DEL has begun";
  return entry.plan.netns === "" ? "it has no network namespace" : undefined;
}

/**
 * Why a namespace is not, or not certainly, the one of the entry's ADD; undefined if it is. The namespace's cookie says so. Without one (kernels before
 * Linux 5.14), a link must be the one that the ADD made; without a record of links, the runtime's interface must have the address of its result.
 */
function whyAnotherNamespace(entry: JournalEntry, { cookie, links }: NamespaceLinks): string | undefined {
  const { pod, plan } = entry;
  const another = `${plan.netns} is another network namespace`;
  if (pod?.cookie !== undefined && cookie !== undefined)
    return pod.cookie === cookie ? undefined : `${another} than that of its ADD (cookie ${cookie}, not ${pod.cookie})`;
  if (pod?.made?.some((made) => links.some((link) => showsSameNamespace(made, link))) === true) return undefined;
  const mac = attachedMac(entry);
  if (mac === undefined)
    return "the default network's result has no hardware address by which its network namespace could be recognized";
  const link = links.find((each) => each.name === plan.ifname);
  if (link?.mac === mac) return undefined;
  const found = link === undefined ? "no such link" : `address ${link.mac}`;
  return `${another}: ${plan.ifname} was attached with address ${mac}, and there is ${found}`;
}

/** The hardware address of the runtime's interface, as its ADD reported it; undefined if the ADD reported none. */
function attachedMac({ plan, progress }: JournalEntry): string | undefined {
  const result = progress[0] === undefined ? undefined : journalledResult(progress[0].result);
  const links = result === undefined ? [] : sandboxInterfaces(result);
  const mac = links.find((each) => each.interface.name === plan.ifname)?.interface.mac ?? "";
  return mac === "" ? undefined : mac.toLowerCase();
}

/** The final result of a journalled attachment; undefined if it has none. */
export function journalledResult(result: AttachmentProgress["result"]): CniResult | undefined {
  if (result === undefined) return undefined;
  // Plexus wrote the text, and the text names its version.
  const read = readResult(result, "1.1.0", "journalled result");
  return read.ok ? read.value.result : undefined;
}

/** Whether an attachment is there as a whole: neither its ADD nor its removal broke off. */
export function isWhole({ result, detaching, undone }: AttachmentProgress): boolean {
  return result !== undefined && detaching !== true && !undone;
}
