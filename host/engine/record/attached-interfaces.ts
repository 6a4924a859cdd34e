// The interfaces of a container with the facts of their ADDs, as the journal has them.

import { readResult } from "../../../src/cni/read-result.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import type { AttachedFacts, GuardedInterface } from "../planned/plan-feature.ts";

/** The interfaces of an entry. One whose ADD has not succeeded, or that is being removed, has no facts. `isNew`: whether the call has made an interface. */
export function attachedInterfaces(
  { plan, progress, pod }: JournalEntry,
  isNew: (ifname: string) => boolean = () => false,
): readonly GuardedInterface[] {
  return plan.attachments.map(({ ifname, source, podNetwork, conflist }, index) => {
    const { result, undone = false, detaching = false } = progress[index] ?? {};
    const named = { ifname, source, podNetwork, conflist };
    if (result === undefined || undone || detaching) return named;
    const link = pod?.made?.find(({ name }) => name === ifname);
    return { ...named, attached: { link, addresses: addressesIn(result), isNew: isNew(ifname) } };
  });
}

/** The addresses of a result in the pod. An address of another interface than one of the pod is the node's. */
function addressesIn(text: string): AttachedFacts["addresses"] {
  const read = readResult(text, "1.1.0");
  if (!read.ok) return [];
  const { interfaces, ips } = read.value.result;
  const isOfNode = (index: number | undefined): boolean =>
    index !== undefined && interfaces[index] !== undefined && interfaces[index].sandbox === undefined;
  return ips.flatMap(({ address, interface: index }) => (isOfNode(index) ? [] : [address.slice(0, address.indexOf("/"))]));
}
