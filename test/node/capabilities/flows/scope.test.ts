// The capability flows against the kernel: entries of one address or port go, others stay.

import { afterAll, beforeAll, expect, test } from "vitest";
import { flowsFor } from "../../../../host/capabilities/flows/scope.ts";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";

const unable = missing(
  "entries of connection tracking",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  command("nft", "-v"),
  command("bash", "--version"),
);

let shop: Workshop;
let node: PodNamespace;
let pod: PodNamespace;
beforeAll(async () => {
  if (unable) return;
  shop = await openWorkshop();
  [node, pod] = [createPodNamespace("flows-node"), createPodNamespace("flows-pod")];
  // A rule that asks for a state makes the namespace track connections.
  run(
    node,
    `ip link add veth0 type veth peer name eth0 netns ${pod.name} && ip link set veth0 up
    ip address add 10.1.0.1/24 dev veth0 && ip address add fd00:1::1/64 dev veth0 nodad
    nft 'table inet t { chain i { type filter hook input priority 0; ct state new accept; }; chain o { type filter hook output priority 0; ct state new accept; }; }'`,
  );
  run(
    pod,
    `ip link set eth0 up; for address in 10.1.0.5/24 10.1.0.6/24; do ip address add $address dev eth0; done
    ip address add fd00:1::5/64 dev eth0 nodad`,
  );
});
afterAll(async () => {
  pod?.dispose();
  node?.dispose();
  await shop?.dispose();
});

function run(inside: PodNamespace, script: string): void {
  const { status, stderr } = inside.exec(["bash", "-c", script]);
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
}

const send = (from: PodNamespace, address: string, port: number): void => run(from, `echo x >/dev/udp/${address}/${port}`);

const scope = (address: string) => ({
  verb: "DEL" as const,
  attachment: { containerId: "one", ifname: "eth0" },
  facts: { addresses: [address] },
});

test.skipIf(unable)("forgets the flows of the attachment's addresses and ports, and leaves those of others", async () => {
  send(pod, "10.1.0.1", 5353);
  send(pod, "10.1.0.1", 5354);
  send(node, "10.1.0.5", 6000);
  send(node, "10.1.0.6", 6000);
  send(pod, "fd00:1::1", 5353);
  send(node, "fd00:1::5", 6000);
  await callWith(
    async (engine) => {
      const forget = (address: string, ...ports: readonly number[]) =>
        flowsFor(scope(address), engine).forget(
          [address],
          ports.map((number) => ({ protocol: "udp" as const, number })),
        );
      expect(await forget("10.1.0.5", 9)).toEqual({ ok: 0 });
      expect(await forget("10.1.0.5", 9, 6000)).toEqual({ ok: 1 });
      expect(await forget("10.1.0.5")).toEqual({ ok: 2 });
      expect(await forget("10.1.0.5")).toEqual({ ok: 0 });
      expect(await forget("fd00:1::5", 6000)).toEqual({ ok: 1 });
      expect(await forget("fd00:1::5")).toEqual({ ok: 1 });
      expect(await forget("10.1.0.6")).toEqual({ ok: 1 });
      expect(await flowsFor(scope("10.1.0.6"), engine).forget(["10.1.0.5"], [])).toMatchObject({
        err: { msg: "flows: 10.1.0.5 is not an address of the attachment, which has 10.1.0.6" },
      });
    },
    { shim: shop.shim, netns: node.path },
  );
});

test.skipIf(unable)("forgets more flows than one answer of the kernel holds", async () => {
  run(pod, "for port in {10001..14000}; do echo x >/dev/udp/10.1.0.1/$port; done");
  await callWith(
    async (engine) => expect(await flowsFor(scope("10.1.0.5"), engine).forget(["10.1.0.5"], [])).toEqual({ ok: 4000 }),
    { shim: shop.shim, netns: node.path },
  );
});
