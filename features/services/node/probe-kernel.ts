// Whether the kernel takes the tables of Services: one with a port of each family, written by the code that an ADD has.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { KernelProbe } from "../../../host/node/doctor/kernel-probe.ts";
import type { BalancedPort } from "../rules/balance.ts";
import { replaceTable } from "./pod-table.ts";

/** A TCP port with session affinity, and a UDP port without an endpoint, of each family. */
const ports = [
  { front: "192.0.2.1", backends: ["192.0.2.2", "192.0.2.3"] },
  { front: "2001:db8::1", backends: ["2001:db8::2", "2001:db8::3"] },
].flatMap(({ front, backends }): readonly BalancedPort[] => {
  const address = readAddress(front);
  if (address === undefined) return [];
  const known = backends.flatMap((text) => readAddress(text) ?? []).map((each) => ({ address: each, port: 8080 }));
  return [
    {
      name: `plexus/probe${address.family}:80/TCP`,
      uid: "probe",
      address,
      protocol: 6,
      port: 80,
      backends: known,
      affinitySeconds: 60,
    },
    { name: `plexus/probe${address.family}:53/UDP`, uid: "probe", address, protocol: 17, port: 53, backends: [] },
  ];
});

/** The probe; undefined without Services. */
export function probeOf({ services }: HostConfiguration): KernelProbe | undefined {
  if (!services) return undefined;
  return {
    name: "services",
    neededBy: "services of Plexus' configuration",
    remedy:
      "Boot a kernel with nf_tables, nft_chain_nat, nft_nat, nft_masq, nft_ct, nft_numgen, nft_reject_inet, or switch services off.",
    run: async (kernel) => {
      const written = await replaceTable(kernel, "", ports, true);
      return written.ok ? undefined : written.fault.msg;
    },
  };
}
