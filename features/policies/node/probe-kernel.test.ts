// The probe of the kernel for policies: the table that it writes, and a kernel that lacks a part of it.

import { expect, test } from "vitest";
import { EOPNOTSUPP } from "../../../host/system/errno.ts";
import type { NetlinkExchange, NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import { concat, u16, u32, u32At } from "../../../host/system/netlink/bytes.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { probeOf, probeTable } from "./probe-kernel.ts";

const configuration = (keys: object) => {
  const read = readHostConfiguration({ cniVersion: "1.0.0", name: "n", type: "plexus", clusterNetwork: "pods", ...keys });
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value;
};

test("E-20: the table has each condition that a pod's policies can have", () => {
  const { chains, sets } = probeTable();
  const kinds = new Set(chains.flatMap(({ rules }) => rules.flatMap(({ matches }) => matches.map(({ kind }) => kind))));
  expect([...kinds].toSorted()).toEqual(
    expect.arrayContaining(["icmp-type", "interface", "port", "protocol", "set", "state", "vrf-port"]),
  );
  expect(new Set(sets.map(({ kind, family }) => `${kind} ${family}`))).toEqual(
    new Set(["address 4", "address 6", "range 4", "range 6", "port 4", "port 6"]),
  );
});

test("E-20: without policies there is no probe", () => {
  expect(probeOf(configuration({}))).toBeUndefined();
});

/** A kernel that refuses each message whose bytes contain the attribute, as nft_meta_get_init() answers for a key that it does not know. */
function kernelWithout(attribute: Uint8Array): NetlinkSender {
  return {
    netlink: async ({ request }: NetlinkExchange) => {
      const answers: Uint8Array[] = [];
      for (let at = 0, number = 1; at < request.length; at += (u32At(request, at) + 3) & ~3, number++) {
        const message = request.subarray(at, at + u32At(request, at));
        const isRefused = Buffer.from(message).includes(attribute);
        const body = concat([u32(isRefused ? -EOPNOTSUPP >>> 0 : 0), message.subarray(0, 16)]);
        answers.push(concat([u32(16 + body.length), u16(2), u16(0), u32(number), u32(0), body]));
      }
      return { errno: 0, sent: true, reply: concat(answers) };
    },
  };
}

/** NFTA_META_KEY (type 2) with NFT_META_SDIFNAME, which Linux 5.6 brought. */
const sdifname = Uint8Array.of(8, 0, 2, 0, 0, 0, 0, 34);

test("E-20: a kernel without meta sdifname is refused, and the remedy names the release that brought it", async () => {
  const probe = probeOf(configuration({ policies: {} }));
  expect(probe?.remedy).toContain("Linux 5.6");
  expect(await probe?.run(kernelWithout(sdifname))).toContain("ENOTSUP");
  expect(await probe?.run(kernelWithout(Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 254)))).toBeUndefined();
});
