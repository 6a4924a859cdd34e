// The containers of this node that the journal has as attached: those that live, whose DEL needs Plexus, and the records of deleted ones.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { splitCniArgs } from "../../../src/cni/environment.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { Abandoned } from "../../store/journal/abandoned.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { Journal } from "../../store/journal/journal.ts";
import { bootId } from "../../system/boot-id.ts";

/** A pod that is attached to networks besides the default one. */
export interface PodOfPlexus {
  /** `namespace/name`, or the container's id if it is no pod. */
  readonly pod: string;
  readonly networks: readonly string[];
}

/** An attached container. The runtime itself can undo the default network, so `networks` has the further ones. */
interface AttachedContainer extends PodOfPlexus {
  readonly containerId: string;
  /** `unseen`: a program in a container sees neither the node's processes nor each of its directories. */
  readonly namespace: "there" | "gone" | "unseen";
}

/** The attached containers of one state directory. */
interface Attached {
  readonly containers: readonly AttachedContainer[];
  /** Why others may be missing, a sentence for each reason. */
  readonly problems: readonly string[];
}

/** The pods of these state directories, and the reasons why others may be missing. A pod whose namespace is unseen may live. */
export function podsOfPlexus(stateDirectories: readonly string[]): {
  readonly pods: readonly PodOfPlexus[];
  /** The number of live pods that Plexus attached to the default network only. */
  readonly defaultOnly: number;
  readonly problems: readonly string[];
} {
  const read = stateDirectories.map(readAttached);
  const live = read.flatMap(({ containers }) => containers).filter(({ namespace }) => namespace !== "gone");
  const pods = live.filter(({ networks }) => networks.length > 0).map(({ pod, networks }) => ({ pod, networks }));
  return { pods, defaultOnly: live.length - pods.length, problems: read.flatMap(({ problems }) => problems) };
}

/** The number of live pods of a state directory, as root on the node sees them, and of the records of deleted ones. */
export function countAttached(stateDirectory: string): {
  readonly pods: number;
  /** Entries and abandoned attachments of containers whose namespace is gone. */
  readonly records: number;
  /** The reason why the state cannot be read. The attached pods are then unknown. */
  readonly problem: string | undefined;
} {
  const { containers, problems } = readAttached(stateDirectory);
  const abandoned = new Abandoned(stateDirectory).list();
  const live = containers.filter(({ namespace }) => namespace === "there");
  const records = containers.length - live.length + (abandoned.ok ? abandoned.value.length : 0);
  const pods = new Set(live.map(({ containerId }) => containerId)).size;
  return { pods, records, problem: [...problems, ...(abandoned.ok ? [] : [abandoned.fault.msg])][0] };
}

function readAttached(stateDirectory: string): Attached {
  const journal = new Journal(stateDirectory);
  const keys = journal.list();
  const problems = keys.ok ? [] : [keys.fault.msg];
  const containers: AttachedContainer[] = [];
  for (const key of keys.ok ? keys.value : []) {
    const entry = journal.load(key);
    if (!entry.ok) problems.push(entry.fault.msg);
    else if (entry.value !== undefined) containers.push(...containerOf(entry.value));
  }
  return { containers, problems };
}

/** The entry's container, if it is attached. An assumed entry only counts failed DELs: no attachment is known. */
function containerOf({ plan, progress }: JournalEntry): readonly AttachedContainer[] {
  if (plan.assumed === true || !progress.some(isAttached)) return [];
  const networks = plan.attachments
    .filter((attachment, index) => (index > 0 || attachment.source !== "default") && isAttached(progress[index]))
    .map(({ source }) => name(source));
  const args = new Map(splitCniArgs(plan.cniArgs));
  const [space, pod] = [args.get("K8S_POD_NAMESPACE"), args.get("K8S_POD_NAME")];
  return [
    {
      pod: name(space && pod ? `${space}/${pod}` : plan.containerId),
      networks,
      containerId: plan.containerId,
      namespace: namespaceOf(plan),
    },
  ];
}

/**
 * Whether the network namespace is there. It does not survive a reboot. The path may meanwhile belong to another process; it counts as this
 * container's, because keeping files is the safe mistake.
 */
function namespaceOf({ bootId: attachedIn, netns }: JournalEntry["plan"]): AttachedContainer["namespace"] {
  if (attachedIn !== bootId() || netns === "") return "gone";
  if (existsSync(netns)) return "there";
  return netns.startsWith("/proc/") || !existsSync(dirname(netns)) ? "unseen" : "gone";
}

function isAttached(progress: JournalEntry["progress"][number] | undefined): boolean {
  return progress !== undefined && progress.attempted && !progress.undone;
}

function name(text: string): string {
  return inertLine(text, 253);
}
