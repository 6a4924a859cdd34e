// What the hands do in a pod's network namespace besides NETLINK: SYSCTL, PACKET, TAP; and that they come back from it.

import { readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing } from "../../test/harness/requires.ts";
import { sniff } from "../../test/harness/sniffed.ts";
import { linksRequest } from "../netlink/link.ts";
import { encodeRequests } from "../netlink/message.ts";
import type { Done, LinkPacket } from "./messages.ts";
import { callWith, type BrainSide } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

const ENOENT = 2;
const EBUSY = 16;
const EXDEV = 18;
const ENXIO = 6;
const EISDIR = 21;
const EINVAL = 22;
const ENAMETOOLONG = 36;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

async function run<T>(script: (brain: BrainSide) => Promise<T>): Promise<T> {
  const answers: T[] = [];
  await callWith(async (brain) => void answers.push(await script(brain)), { hands: shop.hands });
  const [answer] = answers;
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

const packet = (payload: Uint8Array, destination = Buffer.alloc(6, 255)): LinkPacket => ({
  ethertype: 0x88b5, // for experiments
  destination,
  payload,
});

const here = (key: string): string => readFileSync(`/proc/sys/${key}`, "utf8");
const settings = (key: string, value = ""): readonly { key: string; value: string }[] => [{ key, value }];

const values = ({ reply }: Done): readonly string[] => Buffer.from(reply).toString().split("\0").slice(0, -1);

describe.skipIf(missing("a pod's network namespace", whyNotPrivate))("in a pod's network namespace", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("hands");
    pod.exec(["ip", "link", "add", "a.b", "address", "02:00:00:00:00:0a", "up", "type", "veth", "peer", "name", "other"]);
    pod.exec(["ip", "link", "set", "other", "address", "02:00:00:00:00:0b", "up"]);
  });
  afterAll(() => pod.dispose());

  const inPod = (key: string): string => pod.exec(["cat", `/proc/sys/${key}`]).stdout;
  const sysctl = (wanted: readonly [string, string][], path = pod.path): Promise<Done> =>
    run((brain) => brain.sysctl({ path, settings: wanted.map(([key, value]) => ({ key, value })) }));

  test("SYSCTL tells the values before and writes the new ones, there and not here", async () => {
    const keys = ["net/ipv4/conf/a.b/rp_filter", "net/ipv4/ip_local_port_range", "net/core/somaxconn"];
    const before = keys.map(inPod);
    const own = keys.slice(1).map(here);
    const done = await sysctl([
      ["net/ipv4/conf/a.b/rp_filter", "2"],
      ["net/ipv4/ip_local_port_range", "2000 3000"],
      ["net/core/somaxconn", ""],
    ]);
    expect(done).toMatchObject({ errno: 0, sent: true });
    expect(values(done)).toEqual(before);
    expect(keys.map(inPod)).toEqual(["2\n", "2000\t3000\n", before[2]]);
    expect(keys.slice(1).map(here)).toEqual(own);
  });

  test("SYSCTL acts in the hands' own where no path is given", async () => {
    const key = "net/ipv4/ip_default_ttl";
    const before = here(key);
    const done = await sysctl([[key, "77"]], "");
    const after = here(key);
    writeFileSync(`/proc/sys/${key}`, before);
    expect([done.errno, values(done), after]).toEqual([0, [before], "77\n"]);
  });

  test("SYSCTL writes what can't be read, whose value before counts as empty", async () => {
    const secret = "net/ipv6/conf/other/stable_secret";
    const done = await sysctl([
      [secret, "2001:db8::1"],
      ["net/ipv4/route/flush", "1"],
    ]);
    expect([done.errno, values(done)]).toEqual([0, ["", ""]]);
    expect(inPod(secret)).toBe("2001:0db8:0000:0000:0000:0000:0000:0001\n");
  });

  test("SYSCTL ends with the first key that fails, and its number says which", async () => {
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
    const done = await run((brain) => brain.packet({ path: pod.path, index: indexOf("a.b"), packets: sent }));
    expect(done).toMatchObject({ errno: 0, sent: true });
    expect(await packets).toEqual(
      sent.map(({ destination, payload }) => ({
        source: "02000000000a",
        destination: Buffer.from(destination).toString("hex"),
        payload: Buffer.from(payload).toString("hex"),
      })),
    );
  });

  test("PACKET refuses too many, too long ones, and a link that is none", async () => {
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
      const done = await run((brain) => brain.packet({ path: pod.path, index: link, packets }));
      expect([packets.length, link, done.errno, done.sent]).toEqual([packets.length, link, errno, sent]);
    }
  });

  test("TAP makes a tap that stays, for whom it says", async () => {
    const tap = (name: string, more: { multiQueue?: boolean; owner?: number; group?: number } = {}): Promise<Done> =>
      run((brain) => brain.tap({ path: pod.path, name, multiQueue: false, ...more }));
    expect(await tap("tap0")).toMatchObject({ errno: 0, sent: true });
    expect(await tap("tap1", { multiQueue: true, owner: 107, group: 0 })).toMatchObject({ errno: 0, sent: true });
    const details = pod.exec(["ip", "-d", "-o", "link", "show"]).stdout;
    const told = (name: string): string | undefined =>
      new RegExp(`^\\d+: ${name}: .* (tun type tap .*?) addrgenmode`, "m").exec(details)?.[1];
    expect(told("tap0")).toBe("tun type tap pi off vnet_hdr off persist on");
    expect(told("tap1")).toMatch(/^tun type tap pi off vnet_hdr off multi_queue .*persist on user \S+ group root$/);
    expect(readdirSync("/sys/class/net")).not.toContain("tap0");
    for (const name of ["lo", "tap0", "a.b"]) expect(await tap(name)).toMatchObject({ errno: EBUSY, sent: false });
    for (const name of ["n".repeat(16), "a/b"]) expect(await tap(name)).toMatchObject({ errno: EINVAL, sent: false });
  });

  test("each refuses the hands' own by another name, and what is none", async () => {
    const own = join(shop.directory, "own");
    symlinkSync("/proc/self/ns/net", own);
    for (const [path, errno] of [
      [own, EXDEV],
      [`/proc/${process.pid}/ns/net`, EXDEV],
      ["/nonexistent", ENOENT],
      ["/etc/passwd", EINVAL],
    ] as const) {
      const answers = await run(async (brain) => [
        await brain.sysctl({ path, settings: [{ key: "net/ipv4/ip_default_ttl", value: "78" }] }),
        await brain.packet({ path, index: 1, packets: [packet(Buffer.alloc(50))] }),
        await brain.tap({ path, name: "tapx", multiQueue: false }),
      ]);
      for (const answer of answers) expect([path, answer]).toEqual([path, expect.objectContaining({ errno, sent: false })]);
    }
    expect(here("net/ipv4/ip_default_ttl")).not.toBe("78\n");
    expect(readdirSync("/sys/class/net")).not.toContain("tapx");
  });

  test("H3 the hands are at home after 1000 ways into a namespace, many of which fail, and so is what they start", async () => {
    shop.script("where", "readlink /proc/self/ns/net; ls /proc/self/fd");
    const answers = await callWith(
      async (brain) => {
        await brain.request();
        const where = (): readonly string[] => [
          ...readdirSync(`/proc/${brain.hands.pid}/task`).map((task) =>
            readlinkSync(`/proc/${brain.hands.pid}/task/${task}/ns/net`),
          ),
          ...readdirSync(`/proc/${brain.hands.pid}/fd`),
        ];
        const before = where();
        const request = encodeRequests([linksRequest]);
        const ways = [
          () => brain.netlink({ path: pod.path, request, deadlineMs: 5000 }),
          () => brain.netlink({ path: pod.path, request: request.subarray(3), deadlineMs: 5000 }),
          () => brain.netlink({ path: pod.path, request, deadlineMs: 0, second: "/nonexistent" }),
          () => brain.netlink({ path: "/etc/passwd", request, deadlineMs: 5000 }),
          () => brain.sysctl({ path: pod.path, settings: settings("net/ipv4/ip_forward") }),
          () => brain.sysctl({ path: pod.path, settings: settings("net/ipv4/conf/none/rp_filter", "1") }),
          () => brain.sysctl({ path: "/nonexistent", settings: settings("net/ipv4/ip_forward") }),
          () => brain.packet({ path: pod.path, index: 99_999, packets: [packet(Buffer.alloc(9))] }),
          () => brain.tap({ path: pod.path, name: "lo", multiQueue: false }),
          () => brain.tap({ path: pod.path, name: "n".repeat(16), multiQueue: false }),
        ];
        for (let round = 0; round < 100; round++) await Promise.all(ways.map((way) => way()));
        expect(where()).toEqual(before);
        expect(before[0]).toBe(readlinkSync("/proc/self/ns/net"));
        const { stdout } = await brain.exec({ type: "where", environment: new Map([["PATH", "/bin:/usr/bin"]]) });
        expect(Buffer.from(stdout).toString().split("\n")[0]).toBe(readlinkSync("/proc/self/ns/net"));
      },
      { hands: shop.hands, env: { CNI_PATH: shop.cniPath } },
    );
    expect(answers.status).toBe(0);
  });
});
