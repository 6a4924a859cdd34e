// The capability dhcp with a real server: leases, their release, and refusals.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LeaseRecords } from "../../../../host/capabilities/dhcp/lease-records.ts";
import { dhcpFor, type DhcpImports, type DhcpScope } from "../../../../host/capabilities/dhcp/scope.ts";
import { systemClock } from "../../../../host/system/clock.ts";
import { dhcpServer, type DhcpServer, startDhcpServer } from "../../../lab/dhcp-server.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { linkType, missing } from "../../../lab/requires.ts";
import { sniff } from "../../../lab/sniffed.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";

const lacks = missing("capability dhcp", missingPrivateNamespaces, linkType("bridge"), linkType("veth"), dhcpServer);

describe.skipIf(lacks)("capability dhcp", () => {
  let shop: Workshop;
  let node: PodNamespace;
  let pod: PodNamespace;
  let server: DhcpServer;
  let directory: string;
  beforeAll(async () => {
    shop = await openWorkshop();
  });
  afterAll(() => shop?.dispose());
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-dhcp-"));
    [node, pod] = [createPodNamespace("node"), createPodNamespace("pod")];
    server = await startDhcpServer(node, "br0", [
      "option lease 60",
      "option mtu 1400",
      "option staticroutes 10.61.0.0/24 10.60.0.9, 0.0.0.0/0 10.60.0.1",
    ]);
    node.exec(["ip", "link", "add", "host0", "master", "br0", "up", "type", "veth", "peer", "name", "eth0", "netns", pod.name]);
    pod.exec(["ip", "link", "set", "eth0", "address", "02:00:00:00:00:0a", "up"]);
  });
  afterEach(async () => {
    await server.dispose();
    for (const each of [node, pod]) each.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  const attachment = { containerId: "c1", ifname: "eth0" };
  async function use<T>(act: (dhcp: DhcpImports) => T | Promise<T>, changes: Partial<DhcpScope> = {}): Promise<T> {
    const answers: T[] = [];
    await callWith(
      async (engine) => {
        const shim = { netlink: engine.netlink.bind(engine), packet: engine.packet.bind(engine), ask: engine.ask.bind(engine) };
        const records = new LeaseRecords(directory);
        const scope = { network: "net", verb: "ADD", attachment, netns: pod.path, records, isRenewed: true, ...changes } as const;
        answers.push(await act(dhcpFor(scope, shim, systemClock)));
      },
      { shim: shop.shim },
    );
    const [answer] = answers;
    if (answer === undefined) throw new Error("no answer");
    return answer;
  }
  const request = { requested: [1, 3, 6, 15, 26, 121], provided: [], milliseconds: 20_000 };

  test("an ADD gets a lease with what the server says, a second one keeps it, and DEL releases it at the server", async () => {
    const lease = {
      address: expect.stringMatching(/^10\.60\.0\.(2\d|30)\/24$/),
      gateway: "10.60.0.1",
      routes: [
        { dst: "10.61.0.0/24", gw: "10.60.0.9" },
        { dst: "0.0.0.0/0", gw: "10.60.0.1" },
      ],
      dns: { nameservers: ["10.60.0.1"], domain: "lab.example", search: [], options: [] },
      mtu: 1400,
    };
    const host = { number: 12, value: [...Buffer.from("web")] };
    const acquired = await use(({ acquire }) => acquire({ ...request, provided: [host] }));
    expect(acquired).toMatchObject({ ok: lease });
    expect(acquired).toMatchObject({
      ok: { options: expect.arrayContaining([{ number: 26, value: [5, 120] }]) },
    });
    // The address is not on the interface: the delegate's caller puts it there.
    expect(pod.addresses().filter(({ address }) => address.startsWith("10.60"))).toEqual([]);
    expect(await use(({ acquire }) => acquire(request))).toMatchObject({ ok: lease });
    expect(await use(({ held }) => held(), { verb: "CHECK" })).toMatchObject({ ok: lease });

    const { packets } = await sniff(server.host.path, "eth0", 0x0800, 1, "0a3c000100440043");
    expect(await use(({ release }) => release(), { verb: "DEL" })).toEqual({ ok: undefined });
    const [packet] = await packets;
    expect(packet).toMatchObject({ source: "02000000000a", destination: server.mac.replaceAll(":", "") });
    // DHCPRELEASE of the address.
    expect(packet?.payload).toMatch(/6382536335010736040a3c0001/);
    expect(await use(({ held }) => held(), { verb: "CHECK" })).toEqual({ ok: undefined });
    expect(await use(({ release }) => release(), { verb: "DEL" })).toEqual({ ok: undefined });
  });

  test("a repeated ADD asks the server anew where the lease of the first has run out while no daemon ran", async () => {
    await use(({ acquire }) => acquire(request));
    const records = new LeaseRecords(directory);
    const first = records.find({ network: "net", ...attachment });
    if (first === undefined) throw new Error("no lease");
    const acknowledgedMs = first.acknowledgedMs - first.terms.leaseSeconds * 1000;
    records.keep({ ...first, acknowledgedMs });
    expect(await use(({ acquire }) => acquire(request))).toMatchObject({ ok: { mtu: 1400 } });
    expect(records.find(first)?.acknowledgedMs).toBeGreaterThanOrEqual(first.acknowledgedMs);
  });

  test("GC forgets the leases of attachments that are not valid, also of a namespace that is gone", async () => {
    await use(({ acquire }) => acquire(request));
    const gc = { verb: "GC", attachment: undefined, netns: "" } as const;
    expect(await use(({ retain }) => retain([attachment]), gc)).toEqual({ ok: 0 });
    pod.dispose();
    expect(await use(({ retain }) => retain([]), { ...gc, network: "other" })).toEqual({ ok: 0 });
    expect(await use(({ retain }) => retain([]), gc)).toEqual({ ok: 1 });
    expect(new LeaseRecords(directory).all()).toEqual([]);
  });

  test("without an answer, without a daemon, in another verb and beyond its bounds an ADD gets no lease", async () => {
    await server.stop();
    expect(await use(({ acquire }) => acquire({ ...request, milliseconds: 100 }))).toMatchObject({
      err: { code: 11, msg: "dhcp: no DHCP server offers an address to the interface with MAC 02:00:00:00:00:0a" },
    });
    expect(await use(({ acquire }) => acquire(request), { isRenewed: false })).toMatchObject({
      err: { code: 11, msg: expect.stringContaining("no daemon serves this call") },
    });
    expect(await use(({ probe }) => probe(), { verb: "STATUS", attachment: undefined, isRenewed: false })).toMatchObject({
      err: { code: 50 },
    });
    expect(await use(({ probe }) => probe(), { verb: "STATUS", attachment: undefined })).toEqual({ ok: undefined });
    for (const verb of ["DEL", "CHECK", "GC"] as const)
      expect(await use(({ acquire }) => acquire(request), { verb })).toMatchObject({ err: { code: 999 } });
    for (const changes of [
      { milliseconds: 0 },
      { milliseconds: 30_001 },
      { requested: [0] },
      { requested: [255] },
      { requested: Array.from({ length: 65 }, () => 1) },
      { provided: [{ number: 53, value: [7] }] },
      { provided: [{ number: 12, value: Array.from({ length: 256 }, () => 97) }] },
      { provided: Array.from({ length: 5 }, (_, at) => ({ number: 200 + at, value: Array.from({ length: 250 }, () => 0) })) },
    ])
      expect(await use(({ acquire }) => acquire({ ...request, ...changes }))).toMatchObject({ err: { code: 999 } });
    expect(new LeaseRecords(directory).all()).toEqual([]);
  });
});
