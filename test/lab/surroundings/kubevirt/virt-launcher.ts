// The network steps of KubeVirt's bridge binding, played by ip(8): virt-handler does them in the network namespace of the pod virt-launcher. The
// order is that of composeDesiredSpec and bridgeBindingSpec in pkg/network/setup/netpod/netpod.go, carried out as by pkg/network/driver/nmstate/spec.go,
// with the names of pkg/network/link/names.go and pkg/network/namescheme/networknamescheme.go, of kubevirt/kubevirt (2026). The text is our own. The DHCP
// server, the guest and SELinux labels are left out.

import { createHash } from "node:crypto";

import type { PodNamespace } from "../../namespaces.ts";

/** The user and the group of qemu in the pod, who own the tap. */
export const machineUser = 107;

/** The links of one interface of a virtual machine. */
export interface MachineLinks {
  /** The attachment's link under its new name: a port of the bridge, without an address. */
  readonly nic: string;
  readonly bridge: string;
  readonly tap: string;
  /** The placeholder with the attachment's old name, hardware address and addresses. */
  readonly placeholder: string;
}

/** The name of the pod's interface for a network of the virtual machine: virt-controller asks for it in the selection annotation. */
export function podInterfaceOf(network: string): string {
  return `pod${createHash("sha256").update(network).digest("hex").slice(0, 11)}`;
}

/** The names of the links that virt-handler makes from the pod's interface. */
export function machineLinks(podInterface: string): MachineLinks {
  const hash = podInterface.replace(/^pod/u, "");
  return { nic: `${hash}-nic`, bridge: `k6t-${hash}`, tap: `tap${podInterface.slice(3)}`, placeholder: podInterface };
}

function run(pod: PodNamespace, lines: readonly string[]): void {
  const { status, stderr } = pod.exec(["sh", "-ec", lines.join("\n")]);
  if (status !== 0) throw new Error(`virt-handler's steps in ${pod.name}: ${stderr}`);
}

/** Connects the pod's interface with a virtual machine. The kernel of the lab may have no dummy links: the placeholder then is a bridge without ports. */
export function bindToMachine(pod: PodNamespace, podInterface: string): MachineLinks {
  const names = machineLinks(podInterface);
  const { nic, bridge, tap, placeholder } = names;
  const mac = pod.links().find(({ name }) => name === podInterface)?.mac ?? "";
  const addresses = pod.addresses().filter(({ link }) => link === podInterface);
  run(pod, [
    `ip link add ${bridge} type bridge`,
    `ip link set ${bridge} up`,
    // A link must be down for its new name. Its addresses go to the placeholder: the guest has them by DHCP.
    `ip link set ${podInterface} down`,
    `ip link set ${podInterface} name ${nic}`,
    `ip link set ${nic} address $(cat /sys/class/net/${bridge}/address 2>/dev/null || ip -br link show ${bridge} | awk '{ print $3 }')`,
    `ip link set ${nic} master ${bridge}`,
    `ip address flush dev ${nic}`,
    `ip link set ${nic} up`,
    `ip link set ${nic} type bridge_slave learning off`,
    `ip tuntap add ${tap} mode tap user ${machineUser} group ${machineUser}`,
    `ip link set ${tap} master ${bridge}`,
    `ip link set ${tap} up`,
    `ip link add ${placeholder} type dummy 2>/dev/null || ip link add ${placeholder} type bridge`,
    `ip link set ${placeholder} address ${mac}`,
    ...addresses.map(({ address }) => `ip address add ${address} dev ${placeholder}`),
  ]);
  return names;
}

/** Takes the interface from the virtual machine: virt-handler removes its own links, and leaves the attachment's. */
export function unbindFromMachine(pod: PodNamespace, podInterface: string): void {
  const { bridge, tap, placeholder } = machineLinks(podInterface);
  run(
    pod,
    [bridge, tap, placeholder].map((link) => `ip link delete ${link}`),
  );
}
