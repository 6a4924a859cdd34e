// The attachment whose network is probed, and the other pods of the network on this node, by the journal.

import { resolve } from "node:path";
import { readResult } from "../../../src/cni/read-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { podName } from "../../../src/kube/pod-identity.ts";
import { EntryList } from "../../../host/node/reconcile/entry-list.ts";
import type { NetworkPod } from "../rules/judged-targets.ts";
import { Journal } from "../../../host/store/journal/journal.ts";

/** The attachment. */
export interface ProbedAttachment extends NetworkPod {
  readonly network: string;
  /** The cookie of the network namespace in the pod's ADD; undefined where the kernel gives none. */
  readonly cookie: string | undefined;
  readonly gateways: readonly IpAddress[];
  /** The other pods of the network on this node, sorted by name. */
  readonly pods: readonly NetworkPod[];
}

interface Attachment extends Omit<ProbedAttachment, "pods"> {
  readonly configuration: string;
  /** The begin of the container's ADD, in ms of the time of day. */
  readonly begunAt: number;
}

/**
 * Finds the attachment of a pod to a network, which is `namespace/name` of a definition, its name alone, or the interface. Fault CONTAINER_UNKNOWN: the pod has
 * no such attachment on this node, or its configuration lacks the key `probes`.
 */
export async function probedAttachment(
  directories: readonly string[],
  isOn: (configuration: string) => boolean,
  { pod, network }: { readonly pod: string; readonly network: string },
): Promise<Result<ProbedAttachment>> {
  const found: Attachment[] = [];
  for (const directory of directories.map((path) => resolve(path))) {
    const listed = await new EntryList(new Journal(directory), directory).refresh();
    if (!listed.ok) return listed;
    for (const { entry, begunAt } of listed.value.entries) {
      const { plan, progress, closed } = entry;
      if (!closed || plan.bootId !== bootId()) continue;
      for (const [index, { ifname, source }] of plan.attachments.entries()) {
        const text = progress[index]?.result;
        const read = text === undefined ? undefined : readResult(text, "1.1.0", "journalled result");
        if (read?.ok !== true) continue;
        const name = podName(plan.cniArgs) ?? plan.containerId;
        const facts = { configuration: `${directory} ${plan.network}`, begunAt };
        const place = { netns: plan.netns, cookie: entry.pod?.cookie };
        found.push({ ...facts, pod: name, network: source, ifname, ...place, ...addressesIn(read.value.result) });
      }
    }
  }
  const all = ofNewest(found);
  const own = all.find(
    (each) => each.pod === pod && (each.network === network || each.ifname === network || each.network.split("/")[1] === network),
  );
  if (own === undefined) {
    const has = all.flatMap((each) => (each.pod === pod ? [`${each.ifname} (${each.network})`] : []));
    const why = has.length === 0 ? "this node has no attachment of it" : `it has ${has.join(", ")}`;
    return failed(fault("CONTAINER_UNKNOWN", `pod ${pod} has no network ${network}: ${why}`));
  }
  if (!isOn(own.configuration))
    return failed(fault("CONTAINER_UNKNOWN", `pod ${pod}: probes are off; set the key probes in Plexus' configuration`));
  const pods = all.filter(({ network: name, netns }) => name === own.network && netns !== own.netns);
  return ok({ ...own, pods: pods.toSorted((one, other) => (one.pod < other.pod ? -1 : Number(one.pod > other.pod))) });
}

/** The attachments of each pod's newest container. The DEL of an earlier one may come later, or never. */
function ofNewest(found: readonly Attachment[]): readonly Attachment[] {
  const newest = new Map<string, Attachment>();
  for (const each of found) if (each.begunAt >= (newest.get(each.pod)?.begunAt ?? -Infinity)) newest.set(each.pod, each);
  return found.filter(({ pod, netns }) => newest.get(pod)?.netns === netns);
}

function addressesIn({ ips }: CniResult): Pick<ProbedAttachment, "addresses" | "gateways"> {
  return {
    addresses: ips.flatMap(({ address }) => readCidr(address) ?? []),
    gateways: ips.flatMap(({ gateway }) => (gateway === undefined ? [] : (readAddress(gateway) ?? []))),
  };
}
