// Operations in the kernel through a real shim; ip(8) shows their effect.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { NetlinkEffect } from "../../../../host/protocol/shim.ts";
import { type LinkTests, openLinkTests, typesOf } from "../../../../host/capabilities/links/testing/link-tests.ts";
import { EMSGSIZE } from "../../../../host/system/errno.ts";

const RTM_NEWLINK = 16;
const RTM_GETLINK = 18;
const RTM_GETADDR = 22;
const RTM_GETROUTE = 26;

function queues(inside: Pick<PodNamespace, "exec">, name: string): unknown {
  const text = inside.exec(["ip", "-d", "link", "show", name]).stdout;
  return /numtxqueues (\d+) numrxqueues (\d+)/u.exec(text)?.slice(1);
}

describe.skipIf(missing("links", missingPrivateNamespaces))("apply", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("links");
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  const grant = { bridges: ["lt0"] };

  test("attaches a pod to a bridge, and answers the same links as ip(8)", async () => {
    const { capability } = links.capability({ pod, grant });
    const [bridge, inPod, onNode, ...more] = links.valueOf(
      await capability.apply([
        ...links.attach("10.77.0.2/24", "10.77.0.1/24"),
        { tag: "settle", val: { link: { place: "pod", name: "eth0" }, milliseconds: 15_000 } },
        { tag: "settle", val: { link: { place: "host", name: "lt0" }, milliseconds: 15_000 } },
      ]),
    );
    expect(more).toEqual([]);
    expect(pod.addresses()).toEqual([{ link: "eth0", address: "10.77.0.2/24", scope: "global" }]);
    expect(pod.routes()).toEqual(["default", "10.77.0.0/24"]);
    const expected = [...pod.links(), ...links.node.links()];
    for (const link of [bridge, inPod, onNode]) {
      const { name, mac, mtu, up, master } = link ?? {};
      expect(expected).toContainEqual({ name, mac, mtu, up, master });
    }
    expect(bridge).toMatchObject({ place: "host", name: "lt0", kind: "bridge", running: true });
    expect(inPod).toMatchObject({ place: "pod", name: "eth0", kind: "veth", running: true, peer: onNode?.name });
    expect(onNode).toMatchObject({ place: "host", kind: "veth", running: true, peer: "eth0", master: "lt0" });
    expect(inPod?.addresses).toContainEqual({ address: "10.77.0.2/24", tentative: false, dadFailed: false });
    expect(pod.ping("10.77.0.1")).toBe(true);
  });

  test("both ends of a veth get the number of queues in the grant, or the kernel's default", async () => {
    links.ip("link add own0 type veth peer name own1");
    const kernelDefault = queues(links.node, "own0");
    for (const [vethQueues, wanted] of [
      [undefined, kernelDefault],
      [1, ["1", "1"]],
      [3, ["3", "3"]],
    ] as const) {
      const { capability } = links.capability({ pod, grant: { ...grant, vethQueues } });
      const [, , onNode] = links.valueOf(await capability.apply(links.attach("10.77.0.2/24", "10.77.0.1/24")));
      expect([queues(pod, "eth0"), queues(links.node, onNode?.name ?? "")]).toEqual([wanted, wanted]);
      links.valueOf(await capability.apply([{ tag: "delete-link", val: { place: "pod", name: "eth0" } }]));
    }
  });

  test("a new bridge keeps its MAC when it gets ports, and neither it nor its port accepts router advertisements", async () => {
    const { capability } = links.capability({ pod, grant });
    const [bridge, , onNode] = links.valueOf(await capability.apply(links.attach("10.77.0.2/24", "10.77.0.1/24")));
    links.ip("link add low address 02:00:00:00:00:01 type veth peer name low1");
    try {
      links.ip("link set low master lt0");
      expect(links.node.links().find(({ name }) => name === "lt0")?.mac).toBe(bridge?.mac);
    } finally {
      links.ip("link delete low");
    }
    for (const name of ["lt0", onNode?.name])
      expect(links.node.exec(["cat", `/proc/sys/net/ipv6/conf/${name}/accept_ra`]).stdout.trim()).toBe("0");
  });

  test("attaching to an existing bridge takes one changing send on the node, one in the pod, and at most six messages in all", async () => {
    const first = links.capability({ pod, grant });
    links.valueOf(await first.capability.apply(links.attach("10.77.0.2/24", "10.77.0.1/24")));
    const other = createPodNamespace("links");
    try {
      const { capability, sent } = links.capability({ pod: other, grant });
      links.valueOf(await capability.apply(links.attach("10.77.0.3/24", "10.77.0.1/24")));
      const messages = sent.filter(({ types }) => typeof types[0] === "number");
      const changing = messages.filter(({ types }) => types.some((type) => type !== RTM_GETLINK && type !== RTM_GETADDR));
      expect(changing.map(({ path }) => path)).toEqual(["", other.path]);
      expect(changing[0]?.types).toEqual([RTM_NEWLINK]);
      // The bridge, its addresses where its index was unknown, the veth, the pod, and two dumps of addresses, which cannot share a send.
      expect(messages.length).toBeLessThanOrEqual(6);
    } finally {
      other.dispose();
    }
  });

  test("delete-link removes the pod's link by one message; a link or namespace that does not exist is no fault", async () => {
    const add = links.capability({ pod, grant });
    const [, , onNode] = links.valueOf(await add.capability.apply(links.attach("10.77.0.2/24", "10.77.0.1/24")));
    const remove: LinksOperation[] = [{ tag: "delete-link", val: { place: "pod", name: "eth0" } }];
    const { capability, sent } = links.capability({ pod, verb: "DEL" });
    expect(links.valueOf(await capability.apply(remove))).toEqual([]);
    expect(sent.map(({ path, types }) => [path, types])).toEqual([[pod.path, [17]]]);
    expect(pod.links()).toEqual([]);
    expect(links.node.links().map(({ name }) => name)).not.toContain(onNode?.name);
    expect(links.valueOf(await capability.apply(remove))).toEqual([]);
    for (const netns of ["", "/run/netns/nothing-there", "/etc/hostname"])
      expect(links.valueOf(await links.capability({ netns, verb: "DEL" }).capability.apply(remove))).toEqual([]);
  });
});

describe.skipIf(missing("a crowded pod", missingPrivateNamespaces))(
  "a pod whose namespace has more routes than the shim reads",
  () => {
    test("cannot keep a DEL from setting its lo down", async () => {
      const links = await openLinkTests();
      const pod = createPodNamespace("crowded");
      try {
        links.ip("link set lo up", pod);
        const down: LinksOperation = {
          tag: "change-link",
          val: { link: { place: "pod", name: "lo" }, up: false, alternativeNames: [] },
        };
        // The shim's answer for some 300,000 routes, which would take long to make.
        const intercept = ({
          request,
        }: NetlinkEffect): Promise<{ errno: number; sent: boolean; reply: Uint8Array }> | undefined =>
          typesOf(request).includes(RTM_GETROUTE)
            ? Promise.resolve({ errno: EMSGSIZE, sent: true, reply: new Uint8Array(0) })
            : undefined;
        expect(await links.capability({ pod, intercept }).capability.apply([down])).toMatchObject({ err: { code: 5 } });
        const { capability } = links.capability({ pod, intercept, verb: "DEL" });
        expect(links.valueOf(await capability.apply([down]))).toMatchObject([{ name: "lo", up: false }]);
      } finally {
        pod.dispose();
        await links.dispose();
      }
    });
  },
);

describe.skipIf(missing("concurrent applies", missingPrivateNamespaces))("concurrent applies", () => {
  test("attach 32 pods to a bridge that does not exist yet, over two connections", async () => {
    const links = await openLinkTests();
    const pods = Array.from({ length: 32 }, () => createPodNamespace("many"));
    try {
      const other = await links.startSecondShim();
      const grant = { bridges: ["lt0"] };
      const attached = await Promise.all(
        pods.map(async (pod, number) => {
          const { capability } = links.capability({ pod, grant, ...(number % 2 === 0 ? {} : { shim: other.shim }) });
          return links.valueOf(await capability.apply(links.attach(`10.77.0.${number + 2}/24`, "10.77.0.1/24")));
        }),
      );
      expect(new Set(attached.map(([bridge]) => bridge?.index)).size).toBe(1);
      const ports = links.node.links().filter(({ master }) => master === "lt0");
      expect(ports).toHaveLength(pods.length);
      expect(links.node.addresses().filter(({ link }) => link === "lt0")).toHaveLength(1);
      for (const [number, pod] of pods.entries())
        expect(pod.addresses()).toEqual([{ link: "eth0", address: `10.77.0.${number + 2}/24`, scope: "global" }]);
      await other.dispose();
    } finally {
      for (const pod of pods) pod.dispose();
      await links.dispose();
    }
  });

  test("that fail keep a bridge that they made for those that succeed", async () => {
    const links = await openLinkTests();
    const pods = Array.from({ length: 12 }, () => createPodNamespace("many"));
    try {
      const failing: LinksOperation = {
        tag: "add-route",
        val: { place: "pod", route: { dst: "10.99.0.0/16", gw: "203.0.113.1" }, onLink: false },
      };
      const outcomes = await Promise.all(
        pods.map((pod, number) => {
          const attach = links.attach(`10.77.0.${number + 2}/24`, "10.77.0.1/24");
          return links
            .capability({ pod, grant: { bridges: ["lt0"] } })
            .capability.apply(number % 3 === 2 ? attach : [...attach, failing]);
        }),
      );
      expect(outcomes.map((outcome) => "ok" in outcome)).toEqual(pods.map((_, number) => number % 3 === 2));
      const ports = links.node.links().filter(({ master }) => master === "lt0");
      expect(ports).toHaveLength(4);
      expect(pods.map((pod) => pod.links().length)).toEqual(pods.map((_, number) => (number % 3 === 2 ? 1 : 0)));
    } finally {
      for (const pod of pods) pod.dispose();
      await links.dispose();
    }
  });
});
