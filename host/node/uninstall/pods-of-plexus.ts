// The live pods whose DEL needs Plexus: those with a network besides the default one. The runtime itself can undo the default network.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { splitCniArgs } from "../../../src/cni/args.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { bootId } from "../../engine/call/boot-id.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { Journal } from "../../store/journal/journal.ts";

/** A pod that is attached to networks besides the default one. */
export interface PodOfPlexus {
  /** `namespace/name`, or the container's id if it is no pod. */
  readonly pod: string;
  readonly networks: readonly string[];
}

/** The pods of these state directories, and the reasons why others may be missing. */
export function podsOfPlexus(stateDirectories: readonly string[]): {
  readonly pods: readonly PodOfPlexus[];
  /** The number of live pods that Plexus attached to the default network only. */
  readonly defaultOnly: number;
  readonly problems: readonly string[];
} {
  const all: PodOfPlexus[] = [];
  const problems: string[] = [];
  for (const directory of stateDirectories) {
    const journal = new Journal(directory);
    const keys = journal.list();
    if (!keys.ok) problems.push(keys.fault.msg);
    for (const key of keys.ok ? keys.value : []) {
      const entry = journal.load(key);
      if (!entry.ok) problems.push(entry.fault.msg);
      else if (entry.value !== undefined) all.push(...podOf(entry.value));
    }
  }
  const pods = all.filter(({ networks }) => networks.length > 0);
  return { pods, defaultOnly: all.length - pods.length, problems };
}

/** The entry's pod with its further networks, if the pod lives and is attached. */
function podOf({ plan, progress }: JournalEntry): readonly PodOfPlexus[] {
  const lives = plan.assumed !== true && plan.bootId === bootId() && plan.netns !== "" && !isGone(plan.netns);
  const networks = plan.attachments
    .filter((attachment, index) => (index > 0 || attachment.source !== "default") && isAttached(progress[index]))
    .map(({ source }) => name(source));
  if (!lives || !progress.some(isAttached)) return [];
  const args = new Map(splitCniArgs(plan.cniArgs));
  const [space, pod] = [args.get("K8S_POD_NAMESPACE"), args.get("K8S_POD_NAME")];
  return [{ pod: name(space && pod ? `${space}/${pod}` : plan.containerId), networks }];
}

/** Whether the namespace is gone. A daemon in a container sees neither the node's processes nor every directory: then the pod may live. */
function isGone(netns: string): boolean {
  return !existsSync(netns) && !netns.startsWith("/proc/") && existsSync(dirname(netns));
}

function isAttached(progress: JournalEntry["progress"][number] | undefined): boolean {
  return progress !== undefined && progress.attempted && !progress.undone;
}

function name(text: string): string {
  return inertLine(text, 253);
}
