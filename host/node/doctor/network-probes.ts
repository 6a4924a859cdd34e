// The parts of the kernel that the networks of a node need, by the types of their steps.

import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { memberValue } from "../../../src/json/document.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { findPlugin } from "../explain/find-plugin.ts";
import type { HostSettings } from "../explain/host-settings.ts";
import type { NamedList } from "../explain/networks.ts";
import type { KernelProbe } from "./kernel-probe.ts";
import { type KernelPart, type KernelPartName, kernelParts } from "./kernel-parts.ts";
import { networkName } from "./node-networks.ts";

/** The parts that a native plugin and the component of the same name both need. */
const partsOfTypes: Readonly<Record<string, readonly KernelPartName[]>> = {
  bridge: ["veth", "bridge"],
  "bridge-adapter": ["veth", "bridge"],
  ptp: ["veth"],
  macvlan: ["macvlan"],
  ipvlan: ["ipvlan"],
  vlan: ["vlan"],
  dummy: ["dummy"],
  vrf: ["vrf"],
  bond: ["bond"],
  tap: ["tap"],
  bandwidth: ["shaping"],
  sbr: ["rules"],
};

/** Values of JSON that may be an address or a network. */
const addressTexts = /[:,[]\s*"([0-9a-f:.]+)(?:\/\d{1,3})?"/giu;

/** The probes of the parts that these networks need, each once. */
export function networkProbes(networks: readonly NamedList[], settings: HostSettings): readonly KernelProbe[] {
  const users = new Map<KernelPartName, Set<string>>();
  for (const network of networks)
    for (const part of partsOf(network.list, settings)) users.set(part, (users.get(part) ?? new Set()).add(networkName(network)));
  return [...users].map(([name, names]) => {
    const { modules, run }: KernelPart = kernelParts[name];
    return {
      name,
      neededBy: `${names.size === 1 ? "network" : "networks"} ${[...names].join(", ")}`,
      remedy: `Load the kernel's module or boot a kernel that has it (${modules}), or change the network.`,
      run: async (kernel) => {
        const done = await run(kernel);
        return done.ok ? undefined : done.fault.msg;
      },
    };
  });
}

function partsOf({ plugins, text }: NetworkList, settings: HostSettings): ReadonlySet<KernelPartName> {
  const parts = new Set(plugins.flatMap((plugin) => [...(partsOfTypes[plugin.type] ?? []), ...partsOfKeys(plugin, settings)]));
  const hasIpv6 = [...text.matchAll(addressTexts)].some(([, address = ""]) => readAddress(address)?.family === 6);
  return hasIpv6 && parts.size > 0 ? parts.add("ipv6") : parts;
}

function partsOfKeys({ type, document }: PluginConf, { cniPath, configuration }: HostSettings): readonly KernelPartName[] {
  const isSet = (key: string): boolean => Boolean(memberValue(document, key));
  const vlans = type.startsWith("bridge") && (isSet("vlan") || isSet("vlanTrunk"));
  // A native plugin may use iptables, which has modules of its own.
  const writesRules = type === "portmap" || isSet("ipMasq");
  const isComponent = writesRules && findPlugin(type, cniPath, configuration.wasm.prefer).kind === "component";
  return [...(vlans ? (["bridge-vlans"] as const) : []), ...(isComponent ? (["firewall"] as const) : [])];
}
