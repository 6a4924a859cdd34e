// The effects in a pod's network namespace besides NETLINK: SYSCTL, PACKET, TAP and ASK; and the shim's return from the namespace.

import { readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../lab/namespaces.ts";
import { mappedId, missing, tunDevice } from "../../lab/requires.ts";
import { sniff } from "../../lab/sniffed.ts";
import { linksRequest } from "../../../host/system/netlink/link.ts";
import { encodeRequests } from "../../../host/system/netlink/message.ts";
import { packetsIn } from "../../../host/protocol/network-fields.ts";
import type { Done, LinkPacket } from "../../../host/protocol/messages.ts";
import { callWith, type EngineSide } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";
import {
  EAGAIN,
  EBUSY,
  EINVAL,
  EISDIR,
  EMSGSIZE,
  ENAMETOOLONG,
  ENODEV,
  ENOENT,
  ENXIO,
  EXDEV,
} from "../../../host/system/errno.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

async function run<T>(script: (engine: EngineSide) => Promise<T>): Promise<T> {
  const answers: T[] = [];
  await callWith(async (engine) => void answers.push(await script(engine)), { shim: shop.shim });
  const [answer] = answers;
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

const packet = (payload: Uint8Array, destination = Buffer.alloc(6, 255)): LinkPacket => ({
  ethertype: 0x88b5, // for experiments
  destination,
  payload,
});

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
/** An IPv4 packet as hexadecimal text. */
const ip = (protocol: string, source: string, target: string, message: string): string =>
  `45000034 0000 0000 40 ${protocol} 0000 ${source} ${target} ${message}`;
/** The payloads of collected packets. */
const heard = (done: Done): readonly string[] | undefined => packetsIn(done.reply)?.map(({ payload }) => text(payload));
const ARP = 0x0806;
/** Bytes of a hexadecimal text. */
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(" ", ""), "hex");
/** An ARP packet of an operation, with the sender's and the target's address. */
const arp = (operation: number, mac: string, sender: string, target: string): LinkPacket => ({
  ethertype: ARP,
  destination: Buffer.alloc(6, 255),
  payload: hex(`0001 0800 06 04 000${operation} ${mac} ${sender} 000000000000 ${target}`),
});
/** A BOOTP packet of a DHCP server. */
const dhcp = (xid: string, ports = "0043 0044", operation = "02", fragment = "0000"): LinkPacket => ({
  ethertype: 0x0800,
  destination: Buffer.alloc(6, 255),
  payload: Buffer.concat([
    hex(`45000110 0000 ${fragment} 40 11 0000 0a000001 ffffffff ${ports} 00fc 0000 ${operation} 01 06 00 ${xid}`),
    Buffer.alloc(232),
  ]),
});
const inTest = (key: string): string => readFileSync(`/proc/sys/${key}`, "utf8");
const settings = (key: string, value = ""): readonly { key: string; value: string }[] => [{ key, value }];

const values = ({ reply }: Done): readonly string[] => Buffer.from(reply).toString().split("\0").slice(0, -1);

describe.skipIf(missing("a pod's network namespace", missingPrivateNamespaces))("in a pod's network namespace", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("shim");
    pod.exec(["ip", "link", "add", "a.b", "address", "02:00:00:00:00:0a", "up", "type", "veth", "peer", "name", "other"]);
    pod.exec(["ip", "link", "set", "other", "address", "02:00:00:00:00:0b", "up"]);
  });
  afterAll(() => pod.dispose());

  const inPod = (key: string): string => pod.exec(["cat", `/proc/sys/${key}`]).stdout;
  const sysctl = (wanted: readonly [string, string][], path = pod.path): Promise<Done> =>
    run((engine) => engine.sysctl({ path, settings: wanted.map(([key, value]) => ({ key, value })) }));

  test("SYSCTL answers the old values and writes the new ones, in the pod's namespace only", async () => {
    const keys = ["net/ipv4/conf/a.b/rp_filter", "net/ipv4/ip_local_port_range", "net/core/somaxconn"];
    const before = keys.map(inPod);
    const unchanged = keys.slice(1).map(inTest);
    const done = await sysctl([
      ["net/ipv4/conf/a.b/rp_filter", "2"],
      ["net/ipv4/ip_local_port_range", "2000 3000"],
      ["net/core/somaxconn", ""],
    ]);
    expect(done).toMatchObject({ errno: 0, sent: true });
    expect(values(done)).toEqual(before);
    expect(keys.map(inPod)).toEqual(["2\n", "2000\t3000\n", before[2]]);
    expect(keys.slice(1).map(inTest)).toEqual(unchanged);
  });

  test("SYSCTL without a path acts in the shim's own namespace", async () => {
    const key = "net/ipv4/ip_default_ttl";
    const before = inTest(key);
    const done = await sysctl([[key, "77"]], "");
    const after = inTest(key);
    writeFileSync(`/proc/sys/${key}`, before);
    expect([done.errno, values(done), after]).toEqual([0, [before], "77\n"]);
  });

  test("SYSCTL writes a write-only key, whose old value counts as empty", async () => {
    const secret = "net/ipv6/conf/other/stable_secret";
    const done = await sysctl([
      [secret, "2001:db8::1"],
      ["net/ipv4/route/flush", "1"],
    ]);
    expect([done.errno, values(done)]).toEqual([0, ["", ""]]);
    expect(inPod(secret)).toBe("2001:0db8:0000:0000:0000:0000:0000:0001\n");
  });

  test("SYSCTL answers 1 MiB of old values at most, and stops before a key whose value may not fit", async () => {
    const [ports, ttl] = ["net/ipv4/ip_local_reserved_ports", "net/ipv4/ip_default_ttl"] as const;
    // A value of almost 4 KiB, and more of them than a frame holds.
    const reserved = Array.from({ length: 650 }, (_, index) => 10_001 + 2 * index).join(",");
    expect(await sysctl([[ports, reserved]])).toMatchObject({ errno: 0 });
    const unchanged = inPod(ttl);
    const many = Array.from({ length: 9000 }, (): [string, string] => [ports, ""]);
    const done = await sysctl([...many, [ttl, "3"]]);
    expect(done).toMatchObject({ errno: EMSGSIZE, sent: true });
    expect(done.reply.length).toBeLessThanOrEqual(1 << 20);
    expect(new Set(values(done))).toEqual(new Set([`${reserved}\n`]));
    expect(inPod(ttl)).toBe(unchanged);
    expect(await sysctl([[ports, "\n"]])).toMatchObject({ errno: 0 });
  });

  test("SYSCTL stops at the first key that fails, and answers the old values of the keys before it", async () => {
    const [good, ttl] = ["net/ipv4/conf/a.b/arp_notify", "net/ipv4/ip_default_ttl"] as const;
    const unchanged = inPod(ttl);
    for (const [key, value, errno] of [
      ["net/ipv4/conf/none/rp_filter", "1", ENOENT],
      ["net/ipv4/conf/a.b/rp_filter", "much", EINVAL],
      ["net/ipv4/conf", "", EISDIR],
      ["net/ipv4/conf/../ip_forward", "1", EINVAL],
      ["net/./ipv4/ip_forward", "1", EINVAL],
      ["net//ipv4/ip_forward", "1", EINVAL],
      ["net/ipv4/ip_forward/", "1", EINVAL],
      ["net/", "", EINVAL],
      ["net", "", EINVAL],
      ["", "", EINVAL],
      ["/net/ipv4/ip_forward", "1", EINVAL],
      ["kernel/hostname", "x", EINVAL],
      ["network/ipv4", "", EINVAL],
      [`net/${"n".repeat(5000)}`, "", ENAMETOOLONG],
    ] as const) {
      const done = await sysctl([
        [good, "1"],
        [key, value],
        [ttl, "3"],
      ]);
      expect([key, done.errno, done.sent, values(done).length]).toEqual([key, errno, true, 1]);
    }
    expect(inPod(good)).toBe("1\n");
    expect(inPod(ttl)).toBe(unchanged);
  });

  const indexOf = (link: string): number => Number(/^\d+/.exec(pod.exec(["ip", "link", "show", "dev", link]).stdout)?.[0]);

  test("PACKET sends from the link's own address", async () => {
    const { packets } = await sniff(pod.path, "other", 0x88b5, 64);
    const to = Buffer.from("02000000000b", "hex");
    const sent = Array.from({ length: 64 }, (_, at) =>
      packet(Buffer.alloc(at === 0 ? 1500 : 46 + at, at), at === 1 ? to : undefined),
    );
    const done = await run((engine) => engine.packet({ path: pod.path, index: indexOf("a.b"), packets: sent }));
    expect(done).toMatchObject({ errno: 0, sent: true });
    expect(await packets).toEqual(
      sent.map(({ destination, payload }) => ({
        source: "02000000000a",
        destination: Buffer.from(destination).toString("hex"),
        payload: Buffer.from(payload).toString("hex"),
      })),
    );
  });

  test("PACKET refuses too many packets, too long packets, and an unknown link", async () => {
    const index = indexOf("a.b");
    const one = packet(Buffer.alloc(50));
    for (const [packets, link, errno, sent] of [
      [[one, packet(Buffer.alloc(1501))], index, EINVAL, true],
      [[packet(Buffer.alloc(1501))], index, EINVAL, false],
      [Array.from({ length: 65 }, () => one), index, EINVAL, true],
      [[one], 0, ENXIO, false],
      [[one], 99_999, ENXIO, false],
      [[], index, 0, false],
    ] as const) {
      const done = await run((engine) => engine.packet({ path: pod.path, index: link, packets }));
      expect([packets.length, link, done.errno, done.sent]).toEqual([packets.length, link, errno, sent]);
    }
  });

  const ask = (engine: EngineSide, changes: Partial<Parameters<EngineSide["ask"]>[0]> = {}, channel?: number): Promise<Done> =>
    engine.ask(
      {
        path: pod.path,
        index: indexOf("a.b"),
        answers: "arp",
        keys: [hex("0a000001")],
        packets: [],
        deadlineMs: 2000,
        maxAnswers: 64,
        ...changes,
      },
      channel,
    );
  /** Sends from `other`, the neighbour of `a.b`. */
  const other = (engine: EngineSide, packets: readonly LinkPacket[]): Promise<Done> =>
    engine.packet({ path: pod.path, index: indexOf("other"), packets });

  test("ASK answers with the packets of its kind and its keys alone, and serves other effects meanwhile", async () => {
    const mac = "02000000000b";
    const answer = arp(2, mac, "0a000001", "0a000009");
    const answers = [answer, arp(1, mac, "0a000001", "0a000009"), arp(1, mac, "00000000", "0a000001")];
    const foreign = [
      arp(2, mac, "0a000002", "0a000001"),
      arp(1, mac, "0a000002", "0a000001"),
      arp(2, mac, "00000000", "0a000001"),
      arp(3, mac, "0a000001", "0a000009"),
      { ...answer, payload: hex("0001 0800 06 04 0002") },
    ];
    const done = await run(async (engine) => {
      const asked = ask(engine);
      // An effect that comes later is answered first.
      expect(await other(engine, [...foreign, ...answers, packet(Buffer.alloc(50))])).toMatchObject({ errno: 0 });
      return asked;
    });
    expect(done).toMatchObject({ errno: 0, sent: false });
    expect(
      packetsIn(done.reply)?.map(({ ethertype, destination, payload }) => [
        ethertype,
        text(destination),
        text(payload).slice(0, 56),
      ]),
    ).toEqual(answers.map(({ payload }) => [ARP, mac, text(payload)]));
  });

  test("ASK of neighbour discovery hears advertisements and others' detection, and DHCP the answers of a transaction", async () => {
    const address = "fd000000000000000000000000000001";
    const discovery = (type: number, source: string, target = address, hops = "ff", next = "3a"): LinkPacket => ({
      ethertype: 0x86dd,
      destination: type === 136 ? hex("333300000001") : hex("3333ff000001"),
      payload: hex(
        `60000000 0018 ${next} ${hops} ${source} ff020000000000000000000000000001 ${type.toString(16)} 00 0000 00000000 ${target}`,
      ),
    });
    const none = "0".repeat(32);
    const [neighbours, servers] = await run(async (engine) => {
      const asked = ask(engine, { answers: "neighbour", keys: [hex(address)], maxAnswers: 2 });
      await other(engine, [
        discovery(136, address, "fd000000000000000000000000000002"),
        discovery(135, address),
        discovery(136, address, address, "40"),
        discovery(136, address, address, "ff", "11"),
        discovery(134, address),
        discovery(136, address),
        discovery(135, none),
      ]);
      const leases = ask(engine, { answers: "dhcp", keys: [hex("01020304")], maxAnswers: 1 });
      await other(engine, [
        dhcp("01020305"),
        dhcp("01020304", "0044 0044"),
        dhcp("01020304", "0043 0035"),
        dhcp("01020304", "0043 0044", "01"),
        dhcp("01020304", "0043 0044", "02", "2000"),
        { ...dhcp("01020304"), payload: dhcp("01020304").payload.subarray(0, 260) },
        dhcp("01020304"),
      ]);
      return [heard(await asked), heard(await leases)];
    });
    expect(neighbours).toEqual([text(discovery(136, address).payload), text(discovery(135, none).payload)]);
    expect(servers).toEqual([text(dhcp("01020304").payload)]);
  });

  test("PR-05: ASK collects echo replies of an address and errors about it, and no other packets of ICMP", async () => {
    const icmp = (source: string, message: string, protocol = "01"): LinkPacket => ({
      ethertype: 0x0800,
      destination: Buffer.alloc(6, 255),
      payload: hex(ip(protocol, source, "0a000009", message)),
    });
    const [wanted, router, stranger] = ["0a000001", "0a0000fe", "0a000002"];
    const reply = icmp(wanted, "00 00 0000 1234 0001");
    const tooBig = icmp(router, `03 04 0000 0000 0578 ${ip("01", "0a000009", wanted, "08 00 0000 1234 0001")}`);
    const collected = await run(async (engine) => {
      const asked = ask(engine, { answers: "echo", keys: [hex(wanted)], maxAnswers: 2 });
      await other(engine, [
        icmp(stranger, "00 00 0000 1234 0001"),
        icmp(wanted, "08 00 0000 1234 0001"),
        icmp(wanted, "00 00 0000 1234 0001", "11"),
        icmp(router, `03 04 0000 0000 0578 ${ip("01", "0a000009", stranger, "08 00 0000 1234 0001")}`),
        icmp(router, `03 03 0000 0000 0000 ${ip("11", "0a000009", wanted, "0035 0035 0008 0000")}`),
        icmp(router, "03 04 0000 0000 0578"),
        reply,
        tooBig,
      ]);
      return heard(await asked);
    });
    expect(collected).toEqual([text(reply.payload), text(tooBig.payload)]);
  });

  test("ASK ends with its number of answers, and is refused with another kind's packets, without keys, and beyond its bounds", async () => {
    const index = indexOf("a.b");
    await run(async (engine) => {
      const first = ask(engine, { deadlineMs: 600_000, maxAnswers: 1 });
      await other(engine, [arp(2, "02000000000b", "0a000001", "0a000009")]);
      expect(packetsIn((await first).reply)).toHaveLength(1);
      for (const [changes, errno] of [
        [{ keys: [] }, EINVAL],
        [{ keys: Array.from({ length: 65 }, () => hex("0a000001")) }, EINVAL],
        [{ maxAnswers: 0 }, EINVAL],
        [{ maxAnswers: 65 }, EINVAL],
        [{ packets: [packet(Buffer.alloc(50))] }, EINVAL],
        [{ packets: [{ ...arp(1, "02000000000a", "0a000001", "0a000001"), payload: Buffer.alloc(1501) }] }, EINVAL],
        [{ index: 0 }, ENXIO],
        [{ index: 99_999 }, ENODEV],
      ] as const)
        expect([changes, await ask(engine, { index, ...changes })]).toEqual([
          changes,
          expect.objectContaining({ errno, sent: false }),
        ]);
      // 64 wait at once, and the next one is refused.
      const waiting = Array.from({ length: 64 }, () => ask(engine, { index, deadlineMs: 600_000, maxAnswers: 1 }));
      expect(await ask(engine)).toMatchObject({ errno: EAGAIN });
      await other(engine, [arp(2, "02000000000b", "0a000001", "0a000009")]);
      for (const each of waiting) expect(packetsIn((await each).reply)).toHaveLength(1);
      return true;
    });
  });

  const tap = (name: string, more: { multiQueue?: boolean; owner?: number; group?: number } = {}): Promise<Done> =>
    run((engine) => engine.tap({ path: pod.path, name, multiQueue: false, ...more }));
  /** The TAP settings in the output of ip(8). */
  const tapSettings = (name: string): string | undefined => {
    const details = pod.exec(["ip", "-d", "-o", "link", "show"]).stdout;
    return new RegExp(`^\\d+: ${name}: .* (tun type tap .*?) addrgenmode`, "m").exec(details)?.[1];
  };

  test.skipIf(missing("TAP's owner", tunDevice, mappedId(107)))("TAP sets owner, group and queues", async () => {
    expect(await tap("tap1", { multiQueue: true, owner: 107, group: 0 })).toMatchObject({ errno: 0, sent: true });
    expect(tapSettings("tap1")).toMatch(/^tun type tap pi off vnet_hdr off multi_queue .*persist on user \S+ group root$/);
  });

  test.skipIf(missing("TAP", tunDevice))("TAP makes a persistent tap", async () => {
    expect(await tap("tap0")).toMatchObject({ errno: 0, sent: true });
    expect(tapSettings("tap0")).toBe("tun type tap pi off vnet_hdr off persist on");
    expect(readdirSync("/sys/class/net")).not.toContain("tap0");
    for (const name of ["lo", "tap0", "a.b"]) expect(await tap(name)).toMatchObject({ errno: EBUSY, sent: false });
    for (const name of ["n".repeat(16), "a/b"]) expect(await tap(name)).toMatchObject({ errno: EINVAL, sent: false });
  });

  const unlabelled = missing("LABELLED_TAP where no policy knows the context", tunDevice);
  test.skipIf(unlabelled)("LABELLED_TAP makes no tap in a context that no policy of SELinux knows", async () => {
    const made = await run((engine) =>
      engine.labelledTap({ path: pod.path, name: "tap9", multiQueue: false, selinuxContext: "u:r:plexus_unknown_t" }),
    );
    expect(made).toMatchObject({ errno: expect.any(Number), sent: false });
    expect(made.errno).not.toBe(0);
    expect(tapSettings("tap9")).toBeUndefined();
    for (const selinuxContext of ["", "c".repeat(5000)])
      expect(
        await run((engine) => engine.labelledTap({ path: pod.path, name: "tap9", multiQueue: false, selinuxContext })),
      ).toMatchObject({ errno: EINVAL, sent: false });
    // The child's part alone, as the shim executes it: the arguments of its own are no command of a user.
    const child = [shop.shim, "tap", "tap9", "1", "4294967295", "0"] as const;
    expect([pod.exec(child).status, tapSettings("tap9")]).toEqual([0, expect.stringMatching(/multi_queue .*group root/u)]);
    expect(pod.exec(child).status).toBe(EBUSY);
  });

  test("each effect refuses the path of the shim's link namespace, and the path of another file", async () => {
    const link = join(shop.directory, "own");
    symlinkSync("/proc/self/ns/net", link);
    for (const [path, errno] of [
      [link, EXDEV],
      [`/proc/${process.pid}/ns/net`, EXDEV],
      ["/nonexistent", ENOENT],
      ["/etc/passwd", EINVAL],
    ] as const) {
      const answers = await run(async (engine) => [
        await engine.sysctl({ path, settings: [{ key: "net/ipv4/ip_default_ttl", value: "78" }] }),
        await engine.packet({ path, index: 1, packets: [packet(Buffer.alloc(50))] }),
        await engine.tap({ path, name: "tapx", multiQueue: false }),
        await ask(engine, { path }),
      ]);
      for (const answer of answers) expect([path, answer]).toEqual([path, expect.objectContaining({ errno, sent: false })]);
    }
    expect(inTest("net/ipv4/ip_default_ttl")).not.toBe("78\n");
    expect(readdirSync("/sys/class/net")).not.toContain("tapx");
  });

  test("H3 the shim and its plugins are in their own namespace after 1000 effects in another, many of which fail", async () => {
    shop.script("where", "readlink /proc/self/ns/net; ls /proc/self/fd");
    const answers = await callWith(
      async (engine) => {
        await engine.request();
        const where = (): readonly string[] => [
          ...readdirSync(`/proc/${engine.shim.pid}/task`).map((task) =>
            readlinkSync(`/proc/${engine.shim.pid}/task/${task}/ns/net`),
          ),
          ...readdirSync(`/proc/${engine.shim.pid}/fd`),
        ];
        const before = where();
        const request = encodeRequests([linksRequest]);
        const ways = [
          () => engine.netlink({ path: pod.path, request, deadlineMs: 60_000 }),
          () => engine.netlink({ path: pod.path, request: request.subarray(3), deadlineMs: 60_000 }),
          () => engine.netlink({ path: pod.path, request, deadlineMs: 0, second: "/nonexistent" }),
          () => engine.netlink({ path: "/etc/passwd", request, deadlineMs: 60_000 }),
          () => engine.sysctl({ path: pod.path, settings: settings("net/ipv4/ip_forward") }),
          () => engine.sysctl({ path: pod.path, settings: settings("net/ipv4/conf/none/rp_filter", "1") }),
          () => engine.sysctl({ path: "/nonexistent", settings: settings("net/ipv4/ip_forward") }),
          () => engine.packet({ path: pod.path, index: 99_999, packets: [packet(Buffer.alloc(9))] }),
          () => ask(engine, { deadlineMs: 1 }),
          () => ask(engine, { index: 99_999 }),
          () => engine.tap({ path: pod.path, name: "lo", multiQueue: false }),
          () => engine.tap({ path: pod.path, name: "n".repeat(16), multiQueue: false }),
        ];
        for (let round = 0; round < 100; round++) await Promise.all(ways.map((way) => way()));
        expect(where()).toEqual(before);
        expect(before[0]).toBe(readlinkSync("/proc/self/ns/net"));
        const { stdout } = await engine.exec({ type: "where" });
        expect(Buffer.from(stdout).toString().split("\n")[0]).toBe(readlinkSync("/proc/self/ns/net"));
      },
      { shim: shop.shim, env: { CNI_PATH: shop.cniPath } },
    );
    expect(answers.status).toBe(0);
  });
});
