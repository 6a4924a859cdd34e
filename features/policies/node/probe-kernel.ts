// Whether the kernel takes the tables of policies: a small pod's table with each kind of rule, written by the code that an ADD has.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { KernelProbe } from "../../../host/node/doctor/kernel-probe.ts";
import { deadlineMs, type NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import { newVeth } from "../../../host/system/netlink/link-creation.ts";
import { encodeRequests } from "../../../host/system/netlink/message.ts";
import { compile } from "../rules/compile.ts";
import { nodeTable } from "../rules/node-table.ts";
import { readPolicy } from "../rules/policy.ts";
import type { PolicyTable } from "../rules/table.ts";
import { endTable, writeEnds } from "./end-table.ts";
import { makeTable } from "./pod-table.ts";

const [namespace, network, ifname, device] = ["plexus", "plexus/probe", "eth0", "plexus-near"];
const addresses = ["192.0.2.2", "2001:db8::2"].flatMap((text) => readAddress(text) ?? []);
const ports = [
  { protocol: "TCP", port: 80, endPort: 90 },
  { protocol: "UDP", port: 53 },
  { protocol: "TCP", port: "web" },
];
const peers = [
  { podSelector: {} },
  { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.128/25"] } },
  { ipBlock: { cidr: "2001:db8::/64", except: ["2001:db8::8000/113"] } },
];
const object = {
  metadata: { namespace, name: "probe", annotations: { "k8s.v1.cni.cncf.io/policy-for": network } },
  spec: {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: peers, ports }, {}],
    egress: [{ to: peers, ports }],
  },
};

/** The probe; undefined without policies. */
export function probeOf({ policies }: HostConfiguration): KernelProbe | undefined {
  if (policies === undefined) return undefined;
  const isAtNode = policies.enforceAt === "node";
  return {
    name: "policies",
    neededBy: `policies of Plexus' configuration${isAtNode ? " (enforceAt: node)" : ""}`,
    remedy: `Boot Linux ${isAtNode ? "5.16" : "5.6"} or newer with nf_tables, nf_conntrack and nft_ct${isAtNode ? ", NETFILTER_EGRESS and NF_TABLES_NETDEV" : ""}, or remove the key policies.`,
    run: (kernel) => writeTables(kernel, isAtNode),
  };
}

/** The table of a pod with one policy. */
export function probeTable(): PolicyTable {
  const policy = readPolicy(object, "MultiNetworkPolicy");
  if (policy === undefined || "problem" in policy) throw new TypeError("the probe's policy is unreadable");
  const named = [{ name: "web", protocol: "TCP", port: 8080 } as const];
  const table = compile({
    interfaces: [{ link: { ifname, networks: [network] }, policies: [{ policy, network }] }],
    ports: named,
    findPeers: () => [{ namespace, addresses, ports: named }],
    established: "keep",
  });
  if (!table.ok || table.value === undefined) throw new TypeError("the probe's policy isolates nothing");
  return table.value;
}

async function writeTables(kernel: NetlinkSender, isAtNode: boolean): Promise<string | undefined> {
  const table = probeTable();
  const made = await makeTable(kernel, "", table);
  if (!made.ok) return made.fault.msg;
  if (!isAtNode) return undefined;
  const pair = newVeth({ near: { name: device }, far: { name: "plexus-far" }, farIn: "same namespace" });
  await kernel.netlink({ path: "", request: encodeRequests([pair]), deadlineMs });
  const ends = nodeTable([{ ifname, device, mac: [2, 0, 0, 0, 0, 2], addresses }], table, "keep");
  const written = ends === undefined ? made : await writeEnds(kernel, endTable("/", "probe"), undefined, ends, true);
  return written.ok ? undefined : written.fault.msg;
}
