// Renewals of a lease at a real server, with a moved time of day: T1, a restart, T2, the lease's end.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Renewals } from "../../../../features/dhcp-leases/renewals.ts";
import { LeaseRecords } from "../../../../host/capabilities/dhcp/lease-records.ts";
import { dhcpFor } from "../../../../host/capabilities/dhcp/scope.ts";
import type { Clock } from "../../../../host/system/clock.ts";
import { dhcpServer, type DhcpServer, startDhcpServer } from "../../../lab/dhcp-server.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { linkType, missing } from "../../../lab/requires.ts";
import { sniff } from "../../../lab/sniffed.ts";
import { callWith, type EngineSide } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";

const lacks = missing("renewals of DHCP leases", missingPrivateNamespaces, linkType("bridge"), linkType("veth"), dhcpServer);

const shimOf = (engine: EngineSide) => ({
  netlink: engine.netlink.bind(engine),
  packet: engine.packet.bind(engine),
  ask: engine.ask.bind(engine),
});

describe.skipIf(lacks)("a DHCP lease", () => {
  let shop: Workshop;
  let node: PodNamespace;
  let pod: PodNamespace;
  let server: DhcpServer;
  let directory: string;
  let dayMs: number;
  let passedMs = 0;
  const clock: Clock = { now: () => performance.now() + passedMs, date: () => new Date(dayMs) };
  /** Sets the time of day. */
  const setClock = (seconds: number): void => void (dayMs += seconds * 1000);
  /** Lets time pass. */
  const later = (seconds: number): void => {
    setClock(seconds);
    passedMs += seconds * 1000;
  };
  beforeAll(async () => {
    shop = await openWorkshop();
  });
  afterAll(() => shop?.dispose());
  beforeEach(async () => {
    dayMs = Date.now();
    directory = mkdtempSync(join(tmpdir(), "plexus-dhcp-"));
    [node, pod] = [createPodNamespace("node"), createPodNamespace("pod")];
    server = await startDhcpServer(node, "br0", ["option lease 3600"]);
    node.exec(["ip", "link", "add", "host0", "master", "br0", "up", "type", "veth", "peer", "name", "eth0", "netns", pod.name]);
    pod.exec(["ip", "link", "set", "eth0", "address", "02:00:00:00:00:0a", "up"]);
  });
  afterEach(async () => {
    await server.dispose();
    for (const each of [node, pod]) each.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  const holder = { network: "net", containerId: "c1", ifname: "eth0" };
  const lease = () => new LeaseRecords(directory).find(holder);
  const acquire = async (engine: EngineSide): Promise<void> => {
    const { network, ...attachment } = holder;
    const scope = {
      network,
      verb: "ADD",
      attachment,
      netns: pod.path,
      records: new LeaseRecords(directory),
      isRenewed: true,
    } as const;
    const dhcp = dhcpFor(scope, shimOf(engine), clock);
    expect(await dhcp.acquire({ requested: [1, 3], provided: [], milliseconds: 20_000 })).toMatchObject({ ok: {} });
    pod.exec(["ip", "address", "add", `${lease()?.terms.address}/24`, "dev", "eth0"]);
  };
  /** The renewals of a daemon, and what it has counted and logged. */
  const daemon = (engine: EngineSide | undefined) => {
    const counts: string[] = [];
    const lines: string[] = [];
    const renewals = new Renewals(
      [directory],
      () => (engine === undefined ? undefined : shimOf(engine)),
      clock,
      (_, text) => void lines.push(text),
      (outcome) => void counts.push(outcome),
    );
    return { renewals, counts, lines };
  };

  test("is renewed with its server from half of its time on, also by the next daemon", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        const [before, first] = [lease(), daemon(engine)];
        later(1799);
        await first.renewals.round();
        expect([first.counts, lease()]).toEqual([[], before]);

        later(2);
        const unicast = await sniff(server.host.path, "eth0", 0x0800, 1, "0a3c000100440043");
        await first.renewals.round();
        expect(first.counts).toEqual(["renewed"]);
        expect(lease()).toEqual({ ...before, acknowledgedMs: dayMs });
        const [packet] = await unicast.packets;
        expect(packet?.destination).toBe(server.mac.replaceAll(":", ""));

        const second = daemon(engine);
        later(1801);
        await second.renewals.round();
        expect([second.counts, lease()?.acknowledgedMs]).toEqual([["renewed"], dayMs]);
        // Without an agent nothing is lost: the next one renews.
        later(1801);
        const alone = daemon(undefined);
        await alone.renewals.round();
        expect([alone.counts, alone.lines]).toEqual([[], [expect.stringContaining("no agent is connected")]]);
      },
      { shim: shop.shim },
    );
  });

  test("is rebound with any server after 85 % of its time; its interface goes down at its end", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        await server.stop();
        const { renewals, counts, lines } = daemon(engine);
        later(3065);
        const broadcast = await sniff(server.host.path, "eth0", 0x0800, 1, "ffffffff00440043");
        await renewals.round();
        expect((await broadcast.packets)[0]?.destination).toBe("ffffffffffff");
        expect([counts, lines]).toEqual([
          ["failed"],
          [expect.stringContaining("not renewed yet: dhcp: the DHCP server does not answer")],
        ]);
        // Not again at once.
        await renewals.round();
        expect(counts).toEqual(["failed"]);

        await server.start();
        later(61);
        await renewals.round();
        expect(counts).toEqual(["failed", "renewed"]);

        await server.stop();
        later(3601);
        await renewals.round();
        expect(counts).toEqual(["failed", "renewed", "ended"]);
        expect(pod.links()).toMatchObject([{ name: "eth0", up: false }]);
        expect(lease()?.hasEnded).toBe(true);
        await renewals.round();
        expect(counts).toHaveLength(3);
      },
      { shim: shop.shim },
    );
  });

  test("whose record cannot be written is renewed at its times nevertheless, and the record follows", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        const before = lease();
        // In the place of the file that is written.
        const blocked = join(directory, "dhcp", "net", ".c1@eth0.json");
        mkdirSync(join(blocked, "x"), { recursive: true });
        const { renewals, counts, lines } = daemon(engine);
        later(1801);
        await renewals.round();
        expect([counts, lines]).toEqual([["renewed"], [expect.stringContaining("writing ")]]);
        expect(lease()).toEqual(before);
        later(3);
        await renewals.round();
        expect(counts).toEqual(["renewed"]);
        // Beyond the end by the record on the disk, and beyond T1 of the renewed lease.
        later(1900);
        await renewals.round();
        expect(counts).toEqual(["renewed", "renewed"]);
        expect(pod.links()).toMatchObject([{ name: "eth0", up: true }]);
        const acknowledgedMs = dayMs;

        rmSync(blocked, { recursive: true });
        later(3);
        await renewals.round();
        expect([counts.length, lease()]).toEqual([2, { ...before, acknowledgedMs }]);
      },
      { shim: shop.shim },
    );
  });

  test("that ends while its record cannot be written is brought down once", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        await server.stop();
        mkdirSync(join(directory, "dhcp", "net", ".c1@eth0.json", "x"), { recursive: true });
        const { renewals, counts } = daemon(engine);
        later(3601);
        for (let count = 0; count < 3; count++) {
          await renewals.round();
          later(3);
        }
        expect(counts).toEqual(["ended"]);
      },
      { shim: shop.shim },
    );
  });

  test("outlives a time of day that is set forward, and is renewed soon after one that is set back", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        const { renewals, counts } = daemon(engine);
        // A node without a clock of its own has the time after its first pods.
        setClock(7200);
        await renewals.round();
        expect(counts).toEqual(["renewed"]);
        expect(pod.links()).toMatchObject([{ name: "eth0", up: true }]);
        expect(lease()?.acknowledgedMs).toBe(dayMs);

        await server.stop();
        later(1801);
        await renewals.round();
        expect(counts).toEqual(["renewed", "failed"]);
        await server.start();
        setClock(-86_400);
        later(61);
        await renewals.round();
        expect(counts).toEqual(["renewed", "failed", "renewed"]);
        expect(lease()?.acknowledgedMs).toBe(dayMs);
      },
      { shim: shop.shim },
    );
  });

  test("FI-15: follows its interface under a new name, and brings down that interface at its end, not the one that has its name", async () => {
    await callWith(
      async (engine) => {
        await acquire(engine);
        for (const command of [
          ["set", "eth0", "down"],
          ["set", "eth0", "name", "moved"],
          ["set", "moved", "up"],
          ["add", "eth0", "type", "bridge"],
          ["set", "eth0", "up"],
        ])
          pod.exec(["ip", "link", ...command]);
        const { renewals, counts } = daemon(engine);
        later(1801);
        await expect
          .poll(
            async () => {
              later(61);
              await renewals.round();
              return counts.at(-1);
            },
            { timeout: 60_000 },
          )
          .toBe("renewed");
        // The pod changes the hardware address, too: no server would know it, and the lease ends.
        pod.exec(["ip", "link", "set", "moved", "address", "02:00:00:00:00:99"]);
        later(3601);
        await renewals.round();
        expect(counts.at(-1)).toBe("ended");
        const states = pod.links().map(({ name, up }) => [name, up]);
        expect(states.toSorted()).toEqual([
          ["eth0", true],
          ["moved", false],
        ]);
        expect(lease()?.hasEnded).toBe(true);
      },
      { shim: shop.shim },
    );
  });
});
