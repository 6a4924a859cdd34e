// The result that a chained plugin gets as prevResult, and the pod's link that it describes.

import type { CniResult } from "../../../src/cni/result.ts";

/** The name of the pod's link for a plugin whose `CNI_IFNAME` is `lo`. */
export const podLink = "eth0";

/** The node's end of the veth whose other end is the pod's link. */
export function hostLink(number: number): string {
  return `kit-host${number}`;
}

/** The MAC of the pod's link. */
export function podMac(number: number): string {
  return `0a:58:0a:c9:${number.toString(16).padStart(2, "0")}:02`;
}

/** The address of the pod's link. */
export function podAddress(number: number): string {
  return `10.201.${number}.2/24`;
}

/** A result with all members of CNI 1.1.0. */
export function earlierResult({ netns, number }: { readonly netns: string; readonly number: number }, ifname: string): CniResult {
  const gateway = `10.201.${number}.1`;
  return {
    cniVersion: "1.1.0",
    interfaces: [
      { name: hostLink(number), mtu: 1500 },
      { name: ifname, mac: podMac(number), mtu: 1500, sandbox: netns, pciID: "0000:00:1f.6", socketPath: "/run/kit.sock" },
    ],
    ips: [{ address: podAddress(number), gateway, interface: 1 }],
    routes: [
      { dst: "0.0.0.0/0", gw: gateway },
      { dst: "10.202.0.0/16", gw: gateway, mtu: 1400, advmss: 1300, priority: 50, table: 254, scope: 0 },
    ],
    dns: { nameservers: ["10.201.0.53"], domain: "kit.example", search: ["svc.kit.example"], options: ["ndots:5"] },
  };
}
