// The addresses that pods have, as their network status says.

import { isJsonObject } from "../../../src/json/document.ts";
import { type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { networkStatusAnnotation } from "../../../src/npwg/network-status.ts";

/** One address of one pod. */
export interface PodAddress {
  readonly address: IpAddress;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  /** Empty if the pod is bound to no node. */
  readonly node: string;
  /** Empty if the status names none. */
  readonly ifname: string;
}

/** Maximum characters of a status: Kubernetes' limit for all annotations. */
const maxText = 262_144;

/** The addresses of a pod; none if the pod has finished, uses the node's network, or has no readable status. */
export function podAddresses(object: unknown): readonly PodAddress[] {
  const { metadata, spec, status } = isJsonObject(object) ? object : {};
  if (!isJsonObject(metadata) || !isJsonObject(spec)) return [];
  const phase = isJsonObject(status) ? status["phase"] : undefined;
  if (phase === "Succeeded" || phase === "Failed" || spec["hostNetwork"] === true) return [];
  const { namespace, name, uid, annotations } = metadata;
  const text = isJsonObject(annotations) ? annotations[networkStatusAnnotation] : undefined;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return [];
  const node = typeof spec["nodeName"] === "string" ? spec["nodeName"] : "";
  return entriesOf(text).flatMap((entry) => {
    const { ips, interface: ifname } = isJsonObject(entry) ? entry : {};
    const texts: readonly unknown[] = Array.isArray(ips) ? ips : [];
    return texts.flatMap((each) => {
      const address = typeof each === "string" ? (readAddress(each) ?? readCidr(each)?.address) : undefined;
      if (address === undefined) return [];
      return [{ address, namespace, pod: name, podUid: uid, node, ifname: typeof ifname === "string" ? ifname : "" }];
    });
  });
}

function entriesOf(text: unknown): readonly unknown[] {
  if (typeof text !== "string" || text.length > maxText) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
