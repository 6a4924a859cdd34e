import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { linkType, missing } from "../../../lab/requires.ts";
import { sniff } from "../../../lab/sniffed.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { announceFor, type AnnounceImports, type AnnounceScope } from "../../../../host/capabilities/announce/scope.ts";

const ARP = 0x0806;
const IPV6 = 0x86dd;
const MAC = "02:00:00:00:00:0a";

const ip = (where: PodNamespace, ...args: string[]): string => {
  const { status, stdout, stderr } = where.exec(["ip", ...args]);
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
  return stdout;
};

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

describe.skipIf(missing("capability announce", missingPrivateNamespaces, linkType("bridge"), linkType("veth")))(
  "capability announce",
  () => {
    /** A node with a bridge, a neighbour on that bridge, and the pod. */
    let node: PodNamespace;
    let neighbour: PodNamespace;
    let pod: PodNamespace;
    beforeEach(() => {
      [node, neighbour, pod] = [createPodNamespace("node"), createPodNamespace("near"), createPodNamespace("pod")];
      ip(node, "link", "add", "br0", "up", "type", "bridge");
      ip(node, "link", "add", "near", "master", "br0", "up", "type", "veth", "peer", "name", "eth0", "netns", neighbour.name);
      ip(neighbour, "link", "set", "eth0", "up");
      ip(neighbour, "address", "add", "10.9.0.1/24", "dev", "eth0");
      ip(neighbour, "address", "add", "fd09::1/64", "dev", "eth0", "nodad");
    });
    afterEach(() => {
      for (const each of [node, neighbour, pod]) each.dispose();
    });

    /** Makes the pod's interface with its addresses. `goUp` sets it up. */
    function attach(): void {
      ip(node, "link", "add", "host0", "master", "br0", "type", "veth", "peer", "name", "eth0", "netns", pod.name);
      ip(pod, "link", "set", "eth0", "address", MAC);
      ip(pod, "address", "add", "10.9.0.2/24", "dev", "eth0");
      ip(pod, "address", "add", "10.9.0.3/24", "dev", "eth0");
      ip(pod, "address", "add", "fd09::2/64", "dev", "eth0", "nodad");
    }
    const goUp = (): void => {
      ip(pod, "link", "set", "eth0", "up");
      ip(node, "link", "set", "host0", "up");
      // The bridge drops packets until its port forwards, which follows the carrier of host0 and not that of eth0.
      const forwards = 'until ip -d link show host0 | grep -q "state forwarding"; do sleep 0.01; done';
      node.exec(["timeout", "60", "sh", "-c", forwards]);
    };

    const use = (
      addresses: readonly string[],
      changes: Partial<AnnounceScope> = {},
      before: () => void = () => undefined,
    ): ReturnType<AnnounceImports["send"]> => call(({ send }) => send(addresses), changes, before);

    async function call<T>(
      ask: (announce: AnnounceImports) => Promise<T>,
      changes: Partial<AnnounceScope> = {},
      before: () => void = () => undefined,
    ): Promise<T> {
      const answers: T[] = [];
      await callWith(
        async (engine) => {
          const shim = {
            netlink: engine.netlink.bind(engine),
            packet: engine.packet.bind(engine),
            ask: engine.ask.bind(engine),
          };
          const scope = { verb: "ADD", attachment: { ifname: "eth0" }, netns: pod.path, maxWaitMs: 600_000, ...changes } as const;
          before();
          answers.push(await ask(announceFor(scope, shim, () => performance.now())));
        },
        { shim: shop.shim },
      );
      const [answer] = answers;
      if (answer === undefined) throw new Error("no answer");
      return answer;
    }
    const learned = (address: string): string => ip(neighbour, "neighbour", "show", address);

    test("a neighbour with a stale entry learns the new hardware address for IPv4 and IPv6 as soon as the interface is up", async () => {
      for (const address of ["10.9.0.2", "fd09::2"])
        ip(neighbour, "neighbour", "add", address, "lladdr", "02:00:00:00:00:99", "nud", "reachable", "dev", "eth0");
      attach();
      expect(await use(["10.9.0.2", "fd09::2"], {}, goUp)).toEqual({ ok: undefined });
      for (const address of ["10.9.0.2", "fd09::2"]) await expect.poll(() => learned(address)).toContain(MAC);
      expect(pod.ping("10.9.0.1") && neighbour.ping("10.9.0.2") && neighbour.ping("fd09::2")).toBe(true);
    });

    test("the packets are ARP announcements, and unsolicited neighbour advertisements with a valid checksum", async () => {
      attach();
      goUp();
      const arp = await sniff(neighbour.path, "eth0", ARP, 2);
      expect(await use(["10.9.0.2", "10.9.0.3"])).toEqual({ ok: undefined });
      const mac = "02000000000a";
      expect(await arp.packets).toEqual(
        ["0a090002", "0a090003"].map((address) => ({
          source: mac,
          destination: "ffffffffffff",
          payload: expect.stringMatching(new RegExp(`^0001080006040001${mac}${address}000000000000${address}`)),
        })),
      );
      for (const [router, flags] of [
        ["0", "20000000"],
        ["1", "a0000000"],
      ] as const) {
        pod.exec(["sh", "-c", `echo ${router} > /proc/sys/net/ipv6/conf/eth0/forwarding`]);
        const source = "fd090000000000000000000000000002";
        const six = await sniff(neighbour.path, "eth0", IPV6, 1, `${source}ff02`);
        expect(await use(["fd09::2"])).toEqual({ ok: undefined });
        const [packet] = await six.packets;
        const nodes = "ff020000000000000000000000000001";
        const pattern = new RegExp(`^6000000000203aff${source}${nodes}8800....${flags}${source}0201${mac}$`);
        expect(packet).toEqual({ source: mac, destination: "333300000001", payload: expect.stringMatching(pattern) });
      }
    });

    test("an address that the interface does not have is refused, and no other address is announced", async () => {
      attach();
      goUp();
      ip(neighbour, "neighbour", "add", "10.9.0.2", "lladdr", "02:00:00:00:00:99", "nud", "reachable", "dev", "eth0");
      ip(pod, "address", "add", "10.9.0.77/32", "dev", "lo");
      for (const foreign of ["10.9.0.1", "fd09::1", "10.9.0.77", "0.0.0.0", "::", "255.255.255.255"])
        expect(await use(["10.9.0.2", foreign])).toMatchObject({
          err: { code: 999, msg: `announce: interface eth0 does not have address ${foreign}, so it cannot be announced` },
        });
      for (const wrong of ["10.9.0.2/24", "", "eth0"])
        expect(await use([wrong])).toMatchObject({ err: { code: 999, msg: expect.stringContaining("is not an IP address") } });
      expect(learned("10.9.0.2")).toContain("02:00:00:00:00:99");
    });

    test("an interface that does not run, a tentative address and a missing interface are faults after a bounded wait", async () => {
      attach();
      expect(await use(["10.9.0.2"], { maxWaitMs: 20 })).toMatchObject({
        err: { code: 5, msg: "announce: interface eth0 is not running after 20 ms" },
      });
      ip(pod, "address", "add", "fd09::5/64", "dev", "eth0");
      expect(await use(["fd09::5"], { maxWaitMs: 1 })).toMatchObject({
        err: { code: 5, msg: "announce: interface eth0 still has fd09::5 as a tentative address after 1 ms" },
      });
      expect(await use(["10.9.0.2"], { attachment: { ifname: "eth7" } })).toMatchObject({
        err: { code: 5, msg: expect.stringContaining('"eth7" in the pod\'s network namespace') },
      });
      expect(await use(["10.9.0.2"], { netns: "/nonexistent" })).toMatchObject({
        err: { code: 5, msg: expect.stringContaining("could not be entered: ENOENT") },
      });
    });

    test("FI-21: an interface without carrier is no fault: nothing is sent, because no neighbour hears", async () => {
      attach();
      ip(pod, "link", "set", "eth0", "up");
      expect(await use(["10.9.0.2"], { maxWaitMs: 20 })).toEqual({ ok: undefined });
      ip(pod, "address", "add", "fd09::5/64", "dev", "eth0");
      expect(await use(["fd09::5"], { maxWaitMs: 1 })).toEqual({ ok: undefined });
    });

    test("DEL, GC, a missing namespace and the node's own namespace are refused", async () => {
      expect(await use(["10.9.0.2"], { verb: "DEL" })).toMatchObject({ err: { code: 999 } });
      expect(await use(["10.9.0.2"], { verb: "GC", attachment: undefined })).toMatchObject({ err: { code: 999 } });
      expect(await use(Array.from({ length: 65 }, () => "10.9.0.2"))).toMatchObject({ err: { code: 999 } });
      expect(await use(["10.9.0.2"], { netns: "" })).toMatchObject({
        err: { code: 5, msg: expect.stringContaining("no network namespace") },
      });
      expect(await use(["127.0.0.1"], { netns: `/proc/${process.pid}/ns/net`, attachment: { ifname: "lo" } })).toMatchObject({
        err: { code: 4, msg: expect.stringMatching(/^CNI_NETNS: .*is the node's own/) },
      });
      expect(await use([])).toEqual({ ok: undefined });
    });

    test("an interface without neighbour resolution needs no announcement and no wait", async () => {
      ip(pod, "link", "add", "eth0", "type", "veth", "peer", "name", "other");
      ip(pod, "link", "set", "eth0", "arp", "off", "up");
      ip(pod, "address", "add", "10.9.0.2/24", "dev", "eth0");
      expect(await use(["10.9.0.2"])).toEqual({ ok: undefined });
    });

    const probing = (addresses: readonly string[], probes = 1, milliseconds = 3000, changes: Partial<AnnounceScope> = {}) =>
      call(({ probe }) => probe(addresses, probes, milliseconds), { maxWaitMs: 60_000, ...changes });
    /** The pod's interface without addresses, as a probe finds it. */
    async function attachBare(): Promise<string> {
      ip(node, "link", "add", "host0", "master", "br0", "up", "type", "veth", "peer", "name", "eth0", "netns", pod.name);
      ip(pod, "link", "set", "eth0", "address", MAC, "up");
      // A bridge drops packets of a port until the kernel's work for the new carrier has run.
      await expect
        .poll(() => ip(node, "-d", "link", "show", "host0"), { timeout: 60_000 })
        .toMatch(/state UP[^]* state forwarding/);
      const [, mac = ""] = /link\/ether (\S+)/.exec(ip(neighbour, "link", "show", "eth0")) ?? [];
      return mac;
    }

    test("PR-01 PR-02: a probe finds the host that has an IPv4 or an IPv6 address, with its MAC, and no other host", async () => {
      const mac = await attachBare();
      expect(await probing(["10.9.0.7", "10.9.0.1", "fd09::1", "fd09::7", "10.9.0.1"])).toEqual({
        ok: [
          { address: "10.9.0.1", mac },
          { address: "fd09::1", mac },
        ],
      });
      // The wait ends with the answer: a minute would be the test's end.
      expect(await probing(["10.9.0.1"], 1, 10_000)).toEqual({ ok: [{ address: "10.9.0.1", mac }] });
      expect(ip(pod, "address", "show", "dev", "eth0")).not.toMatch(/inet 10|inet6 fd09/);
      expect(learned("10.9.0.7")).toBe("");
    });

    test("PR-01 PR-02: the packets are ARP probes without a sender, and solicitations from the unspecified address", async () => {
      await attachBare();
      const arp = await sniff(neighbour.path, "eth0", ARP, 2, "0a090007");
      const six = await sniff(neighbour.path, "eth0", IPV6, 1, "fd090000000000000000000000000007");
      expect(await probing(["10.9.0.7", "fd09::7"], 2, 10)).toEqual({ ok: [] });
      const mac = "02000000000a";
      for (const packet of await arp.packets)
        expect(packet).toEqual({
          source: mac,
          destination: "ffffffffffff",
          payload: expect.stringMatching(new RegExp(`^0001080006040001${mac}000000000000000000000a090007`)),
        });
      const [packet] = await six.packets;
      expect(packet).toEqual({
        source: mac,
        destination: "3333ff000007",
        payload: expect.stringMatching(
          /^6000000000183aff0{32}ff0200000000000000000001ff0000078700....00000000fd090000000000000000000000000007$/,
        ),
      });
    });

    test("PR-01 PR-02: another host that probes for the same address at the same time is a conflict", async () => {
      await attachBare();
      const mac = "02:00:00:00:00:77";
      ip(neighbour, "link", "set", "eth0", "address", mac);
      const probes = await Promise.all([
        sniff(neighbour.path, "eth0", ARP, 1, "0a090008"),
        sniff(neighbour.path, "eth0", IPV6, 1, "fd090000000000000000000000000008"),
      ]);
      const both = probing(["10.9.0.8", "fd09::8"], 1, 5000);
      // The other host would end with the first probe that it sees.
      for (const { packets } of probes) await packets;
      const second = probing(["10.9.0.8", "fd09::8"], 5, 500, { netns: neighbour.path });
      expect(await both).toEqual({
        ok: [
          { address: "10.9.0.8", mac },
          { address: "fd09::8", mac },
        ],
      });
      await second;
    });

    test("a probe without a carrier finds nothing; too many probes, a long wait and DEL are refused", async () => {
      attach();
      ip(pod, "link", "set", "eth0", "up");
      expect(await probing(["10.9.0.1"], 1, 10, { maxWaitMs: 20 })).toEqual({ ok: [] });
      for (const [probes, milliseconds] of [
        [0, 10],
        [11, 10],
        [1, 0],
        [2, 5001],
      ] as const)
        expect(await probing(["10.9.0.1"], probes, milliseconds)).toMatchObject({ err: { code: 999 } });
      expect(await probing(["10.9.0.1"], 1, 10, { verb: "DEL" })).toMatchObject({ err: { code: 999 } });
      expect(await probing(["10.9.0.1/24"])).toMatchObject({ err: { code: 999 } });
    });
  },
);
