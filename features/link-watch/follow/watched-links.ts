// The links of one container that are watched: those of its further networks, as the journal has them.

import { readResult } from "../../../src/cni/read-result.ts";
import { formatCidr, readCidr } from "../../../src/net/ip.ts";
import { addressesOf, sandboxInterfaces } from "../../../src/npwg/sandbox-interface.ts";
import { podName } from "../../../src/kube/pod-identity.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { ExpectedLink } from "../rules/judge-link.ts";

/** One watched link. */
export interface WatchedLink extends ExpectedLink {
  /** `namespace/name` of the definition. */
  readonly source: string;
  /** The names of the node's links in the attachment's result: its end of a veth, a bridge. */
  readonly nodeNames: readonly string[];
}

/** The links of one container. */
export interface WatchedContainer {
  readonly netns: string;
  /** Undefined where the kernel gives none. */
  readonly cookie: string | undefined;
  /** `namespace/name`, or the container's id. */
  readonly pod: string;
  readonly links: readonly WatchedLink[];
}

/** The links of an entry; undefined while an ADD or a DEL is under way, and without watched links. */
export function watchedContainer({ plan, progress, closed, failures, pod }: JournalEntry): WatchedContainer | undefined {
  if (!closed || failures.count > 0 || pod?.made === undefined || plan.netns === "") return undefined;
  const links = plan.attachments.flatMap(({ ifname, source }, index): WatchedLink[] => {
    const { result: text, detaching, undone } = progress[index] ?? { undone: true };
    // The default network is the runtime's, and its plugin's own daemon looks after it.
    if (index === 0 || text === undefined || detaching === true || undone) return [];
    const read = readResult(text, "1.1.0", "journalled result");
    const own = read.ok ? sandboxInterfaces(read.value.result).find((each) => each.interface.name === ifname) : undefined;
    if (!read.ok || own === undefined) return [];
    const { result } = read.value;
    const addresses = addressesOf(result, own.index).flatMap(({ address }) => {
      const cidr = readCidr(address);
      return cidr === undefined ? [] : [formatCidr(cidr)];
    });
    const nodeNames = result.interfaces.flatMap(({ name, sandbox = "" }) => (sandbox === "" ? [name] : []));
    return [{ ifname, source, made: pod.made?.find(({ name }) => name === ifname), addresses, nodeNames }];
  });
  if (links.length === 0) return undefined;
  return { netns: plan.netns, cookie: pod.cookie, pod: podName(plan.cniArgs) ?? plan.containerId, links };
}
