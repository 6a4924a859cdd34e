import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { missingOpenVswitch, type OpenVswitch, startOpenVswitch } from "../../../lab/neutron/open-vswitch.ts";
import { missing } from "../../../lab/requires.ts";
import { ovsFor, type OvsImports, type OvsScope } from "../../../../host/capabilities/ovs/scope.ts";
import { systemClock } from "../../../../host/system/clock.ts";

const fabricId = "6f0c3f2e-7f0b-4c58-9a53-7d1c6f0f7a10";
const request = { bridge: "br-int", link: "veth1", interfaceId: fabricId, mac: "FA:16:3E:00:00:01" };
const made = { bridge: "br-int", link: "veth1", interfaceId: fabricId, mac: "fa:16:3e:00:00:01" };

describe.skipIf(missing("capability ovs", missingOpenVswitch))("capability ovs with a real Open vSwitch", () => {
  let ovs: OpenVswitch;
  beforeAll(async () => {
    ovs = await startOpenVswitch();
    for (const bridge of ["br-int", "br-ex"]) {
      ovs.vsctl("add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=dummy");
    }
  });
  afterEach(() => {
    for (const bridge of ["br-int", "br-ex"]) {
      for (const port of ovs.vsctl("list-ports", bridge).split("\n").filter(Boolean)) ovs.vsctl("del-port", port);
    }
  });
  afterAll(() => ovs?.dispose());

  function call(scope: Partial<OvsScope> = {}): OvsImports {
    return ovsFor(
      {
        type: "external-port",
        network: "backend",
        verb: "ADD",
        attachment: { containerId: "pod-1", ifname: "net1" },
        grant: { bridges: ["br-i*"], socket: ovs.socket },
        facts: { hostVeths: ["veth1", "veth2"] },
        providedInterfaceId: fabricId,
        maxMs: 600_000,
        ...scope,
      },
      systemClock.now,
    );
  }

  const portsOf = (bridge: string): readonly string[] => ovs.vsctl("list-ports", bridge).split("\n").filter(Boolean);

  test("a port has the fabric's interface ID, the MAC address and the marks of its owner", async () => {
    expect(await call().addPort(request)).toEqual({ ok: undefined });
    expect(portsOf("br-int")).toEqual(["veth1"]);
    const ids = ovs.vsctl("get", "interface", "veth1", "external_ids");
    expect(ids).toBe(
      `{attached-mac="fa:16:3e:00:00:01", iface-id="${fabricId}", iface-status=active, plexus-attachment="pod-1/net1", plexus-delegate=external-port, plexus-network=backend}`,
    );
    const state = { ...made, number: undefined, error: undefined, linkUp: false, installed: false, tag: undefined, trunks: [] };
    expect(await call({ verb: "CHECK" }).port("veth1")).toEqual({ ok: state });
    expect(await call({ verb: "DEL" }).ports()).toEqual({ ok: [state] });
    expect(await call({ verb: "CHECK" }).port("veth2")).toEqual({ ok: undefined });
    ovs.vsctl("set", "interface", "veth1", "external_ids:ovn-installed=true");
    expect(await call({ verb: "CHECK" }).port("veth1")).toMatchObject({ ok: { installed: true } });
  });

  const one = { ...request, interfaceId: "" };
  const of = (column: string): string => ovs.vsctl("get", "port", "veth1", column);

  test.each([
    ["a tag", { tag: 100 }, ["100"], { tag: "100", trunks: "[]", vlan_mode: "access" }],
    [
      "trunks",
      {
        trunks: [
          { first: 42, last: 42 },
          { first: 1000, last: 1002 },
        ],
      },
      ["42", "1000-1010"],
      { tag: "[]", trunks: "[42, 1000, 1001, 1002]", vlan_mode: "trunk" },
    ],
    [
      "both",
      { tag: 0, trunks: [{ first: 4095, last: 4095 }] },
      ["0-4095"],
      { tag: "0", trunks: "[4095]", vlan_mode: "native-untagged" },
    ],
    ["none", {}, ["0-4095"], { tag: "[]", trunks: "[]", vlan_mode: "[]" }],
  ])(
    "DE-OVS-03 DE-OVS-04 a port with %s of VLANs has these in the database, and answers them",
    async (_, vlans, granted, columns) => {
      const grant = { bridges: ["br-int"], socket: ovs.socket, vlans: granted };
      expect(await call({ grant }).addPort({ ...one, ...vlans })).toEqual({ ok: undefined });
      expect({ tag: of("tag"), trunks: of("trunks"), vlan_mode: of("vlan_mode") }).toEqual(columns);
      expect(ovs.vsctl("get", "interface", "veth1", "external_ids")).not.toContain("iface-");
      const state = { interfaceId: "", mac: made.mac, tag: undefined, trunks: [], ...vlans };
      expect(await call({ verb: "CHECK" }).port("veth1")).toMatchObject({ ok: state });
      expect(await call({ grant }).addPort({ ...one, ...vlans })).toEqual({ ok: undefined });
    },
  );

  test("a repeated port is no change, also if two calls make it at once", async () => {
    expect(await Promise.all([call().addPort(request), call().addPort(request)])).toEqual([{ ok: undefined }, { ok: undefined }]);
    const before = ovs.vsctl("get", "port", "veth1", "_uuid");
    expect(await call().addPort(request)).toEqual({ ok: undefined });
    expect(ovs.vsctl("get", "port", "veth1", "_uuid")).toBe(before);
  });

  test.each([
    ["another interface ID", {}, { interfaceIds: ["*"] }, { interfaceId: "other" }],
    ["another MAC address", {}, {}, { mac: "fa:16:3e:00:00:02" }],
    ["another bridge", {}, { bridges: ["*"] }, { bridge: "br-ex" }],
    ["another attachment", { attachment: { containerId: "pod-2", ifname: "net1" } }, {}, {}],
    ["another network", { network: "other" }, {}, {}],
    ["another delegate", { type: "other" }, {}, {}],
  ])("a port of that name with %s is a fault, and stays", async (_, scope, grant, different) => {
    await call().addPort(request);
    const before = ovs.vsctl("list", "interface", "veth1");
    const answer = await call({ ...scope, grant: { bridges: ["br-int"], socket: ovs.socket, ...grant } }).addPort({
      ...request,
      ...different,
    });
    expect(answer).toMatchObject({
      err: {
        code: 11,
        msg: expect.stringContaining("already has a port"),
        details: expect.stringContaining("[OVS_PORT_CONFLICT]"),
      },
    });
    expect(ovs.vsctl("list", "interface", "veth1")).toBe(before);
    expect(portsOf("br-ex")).toEqual([]);
  });

  test("a port that Plexus did not make is neither taken over, nor seen, nor removed", async () => {
    ovs.vsctl("add-port", "br-int", "veth1", "--", "set", "interface", "veth1", `external_ids:iface-id=${fabricId}`);
    expect(await call().addPort(request)).toMatchObject({ err: { msg: expect.stringContaining("which Plexus did not make") } });
    for (const verb of ["ADD", "DEL"] as const) {
      expect(await call({ verb }).port("veth1")).toEqual({ ok: undefined });
      expect(await call({ verb }).removePort("veth1")).toEqual({ ok: false });
      expect(await call({ verb }).removePorts()).toEqual({ ok: 0 });
    }
    expect(await call({ verb: "GC", attachment: undefined }).retain([])).toEqual({ ok: 0 });
    expect(portsOf("br-int")).toEqual(["veth1"]);
  });

  test("a bond of that name is a fault, and stays", async () => {
    ovs.vsctl("add-bond", "br-int", "veth1", "eth7", "eth8");
    expect(await call().addPort(request)).toMatchObject({
      err: { code: 11, msg: 'ovs: a port with other interfaces already has the name "veth1"' },
    });
    expect(portsOf("br-int")).toEqual(["veth1"]);
  });

  test("DEL removes the attachment's ports by name or all of them, without a link, and again", async () => {
    await call().addPort(request);
    await call().addPort({ ...request, link: "veth2" });
    await call({ attachment: { containerId: "pod-1", ifname: "net2" }, facts: { hostVeths: ["veth3"] } }).addPort({
      ...request,
      link: "veth3",
    });
    const del = call({ verb: "DEL", facts: { hostVeths: [] }, providedInterfaceId: undefined });
    expect(await del.removePort("veth1")).toEqual({ ok: true });
    expect(await del.removePort("veth1")).toEqual({ ok: false });
    expect(await del.removePort("veth3")).toEqual({ ok: false });
    expect(await del.removePorts()).toEqual({ ok: 1 });
    expect(await del.removePorts()).toEqual({ ok: 0 });
    expect(portsOf("br-int")).toEqual(["veth3"]);
    expect(ovs.vsctl("--columns=name", "list", "interface")).not.toContain("veth1");
  });

  test("GC removes the ports of attachments that are gone, of this delegate and network only", async () => {
    const links = Array.from({ length: 250 }, (_, at) => `veth${at}`);
    const add = (at: number, scope: Partial<OvsScope> = {}) =>
      call({ attachment: { containerId: `pod-${at}`, ifname: "net1" }, facts: { hostVeths: links }, ...scope }).addPort({
        ...request,
        link: `veth${at}`,
      });
    // More at once than ovsdb-server accepts; it serves 330 connections.
    for (let from = 0; from < 240; from += 120) {
      const answers = await Promise.all(links.slice(from, from + 120).map((_, at) => add(from + at)));
      expect(answers.filter((answer) => "err" in answer)).toEqual([]);
    }
    await add(240, { network: "other" });
    await add(241, { type: "other" });
    const gc = call({ verb: "GC", attachment: undefined, knownContainers: new Set(links.map((_, at) => `pod-${at + 10}`)) });
    expect(await gc.retain([{ containerId: "pod-239", ifname: "net1" }])).toEqual({ ok: 229 });
    const kept = [...links.slice(0, 10), "veth239", "veth240", "veth241"];
    expect(portsOf("br-int").toSorted()).toEqual(kept.toSorted());
  });

  test("STATUS fails without the database, and without a granted bridge", async () => {
    const status = { verb: "STATUS", attachment: undefined } as const;
    const none = { bridges: ["br-none"], socket: ovs.socket };
    const stopped = { bridges: ["br-int"], socket: join(ovs.directory, "none.sock") };
    expect(await call(status).probe()).toEqual({ ok: undefined });
    expect(await call({ ...status, grant: none }).probe()).toMatchObject({
      err: { code: 11, msg: "ovs: Open vSwitch has no granted bridge: none matches br-none" },
    });
    expect(await call({ ...status, grant: stopped }).probe()).toMatchObject({
      err: { code: 11, msg: expect.stringContaining("ENOENT") },
    });
  });

  test("a bridge that does not exist is a fault that names it", async () => {
    const grant = { bridges: ["*"], socket: ovs.socket };
    expect(await call({ grant }).addPort({ ...request, bridge: "br-none" })).toMatchObject({
      err: { msg: 'ovs: Open vSwitch has no bridge "br-none"' },
    });
  });

  test("settle answers the number of a port that ovs-vswitchd took, and its reason for a port that it could not take", async () => {
    await call().addPort(request);
    expect(await call().settle("veth1", 50)).toMatchObject({
      err: { code: 5, msg: 'ovs: ovs-vswitchd has not taken port "veth1" of bridge "br-int" within 50 ms' },
    });
    expect(await call({ maxMs: 300 }).settle("veth1", 4_294_967_295)).toMatchObject({
      err: { code: 5, msg: expect.stringMatching(/has not taken port "veth1" of bridge "br-int" within (?:200|1?\d{1,2}) ms/) },
    });
    expect(await call().settle("veth2", 50)).toMatchObject({ err: { code: 999 } });
    await ovs.startVswitchd();
    expect(await call().settle("veth1", 600_000)).toMatchObject({ ok: { ...made, number: 1, error: undefined } });
    await call({ facts: { hostVeths: ["veth3"] } }).addPort({ ...request, link: "veth3", number: 77 });
    expect(await call().settle("veth3", 600_000)).toMatchObject({ ok: { number: 77 } });
    await call().addPort({ ...request, link: "veth2" });
    ovs.vsctl("set", "interface", "veth2", "type=nonsense", "ofport=[]");
    expect(await call().settle("veth2", 600_000)).toMatchObject({
      err: {
        code: 5,
        msg: expect.stringMatching(/cannot take port "veth2" of bridge "br-int": "could not open network device veth2/),
      },
    });
  });
});

describe("capability ovs", () => {
  let server: Server | undefined;
  const socket = join("/tmp", `plexus-ovs-${process.pid}.sock`);
  afterEach(() => new Promise((done) => (server === undefined ? done(undefined) : server.close(done))));

  function call(scope: Partial<OvsScope> = {}): OvsImports {
    return ovsFor(
      {
        type: "external-port",
        network: "backend",
        verb: "ADD",
        attachment: { containerId: "pod-1", ifname: "net1" },
        grant: { bridges: ["br-int"], socket },
        facts: { hostVeths: ["veth1"] },
        providedInterfaceId: fabricId,
        maxMs: 600_000,
        ...scope,
      },
      systemClock.now,
    );
  }

  test.each([
    [
      "a bridge that is not granted",
      {},
      { bridge: "br-ex" },
      'bridge "br-ex" is not granted: wasm.grants.external-port.ovs.bridges has br-int',
    ],
    ["a grant without bridges", { grant: { socket } }, {}, "wasm.grants.external-port.ovs.bridges has nothing"],
    ["another's link", {}, { link: "eth0" }, '"eth0" is not the node\'s end of a veth that this call made: this call made veth1'],
    ["a call without links", { facts: { hostVeths: [] } }, {}, "this call made no veth"],
    [
      "another's interface ID",
      {},
      { interfaceId: "victim" },
      'interface ID "victim" (the attachment\'s external port has "6f0c3f2e',
    ],
    ["no external port", { providedInterfaceId: undefined }, {}, "(the attachment's external port has none) is not granted"],
    ["a bridge's name with a space", {}, { bridge: "br int" }, '"br int" is not the name of a link'],
    ["a link's name that is too long", {}, { link: "veth567890123456" }, "is not the name of a link"],
    [
      "an interface ID with a newline",
      {},
      { interfaceId: "a\nb" },
      'interface ID "a\\nb" is not ASCII characters without a space',
    ],
    ["neither interface ID nor VLANs", {}, { interfaceId: "" }, "VLAN 0 (a port without tag and trunks carries all VLANs"],
    [
      "a VLAN that is not granted",
      { grant: { bridges: ["br-int"], vlans: ["7", "10-12"], socket } },
      { tag: 8 },
      "ovs: VLAN 8 is not granted: wasm.grants.external-port.ovs.vlans has 7, 10-12",
    ],
    [
      "a trunk beyond the grant",
      { grant: { bridges: ["br-int"], vlans: ["7", "10-12"], socket } },
      { trunks: [{ first: 11, last: 13 }] },
      "ovs: VLAN 13 is not granted",
    ],
    ["a VLAN without a grant of VLANs", {}, { tag: 7 }, "wasm.grants.external-port.ovs.vlans has nothing"],
    ["VLAN 4096", {}, { tag: 4096 }, "VLAN 4096 is not 0 to 4095"],
    ["empty trunks", {}, { trunks: [] }, "trunks is empty, which Open vSwitch reads as all VLANs"],
    ["a range that ends before it begins", {}, { trunks: [{ first: 9, last: 8 }] }, "VLANs 9 to 8 are not a range"],
    [
      "ranges that overlap",
      {},
      {
        trunks: [
          { first: 1, last: 8 },
          { first: 8, last: 9 },
        ],
      },
      "do not come after VLAN 8",
    ],
    ["number 0", {}, { number: 0 }, "number 0 is not 1 to 65279"],
    ["a MAC address of 8 bytes", {}, { mac: "00:00:00:00:00:00:00:01" }, "is not a MAC address of 6 bytes"],
    ["DEL", { verb: "DEL" as const }, {}, "this function is allowed in ADD only, and this call is DEL"],
  ])("refuses a port with %s before the database is asked", async (_, scope, different, why) => {
    expect(await call(scope).addPort({ ...request, ...different })).toMatchObject({ err: { msg: expect.stringContaining(why) } });
  });

  test("refuses each function in other verbs than its own", async () => {
    const gc = call({ verb: "GC", attachment: undefined });
    const refused = [
      gc.port("veth1"),
      gc.ports(),
      gc.removePort("veth1"),
      gc.removePorts(),
      gc.settle("veth1", 1),
      call({ verb: "CHECK" }).removePorts(),
      call({ verb: "CHECK" }).removePort("veth1"),
      call({ verb: "DEL" }).settle("veth1", 1),
      call({ verb: "DEL" }).retain([]),
    ];
    for (const each of refused)
      expect(await each).toMatchObject({ err: { code: 999, msg: expect.stringContaining("allowed in") } });
  });

  const answering = (reply: string | undefined): Promise<void> => {
    server = createServer((client) => {
      client.on("error", () => undefined);
      client.once("data", () => (reply === undefined ? client.end() : client.write(reply)));
    });
    return new Promise((done) => server?.listen(socket, done));
  };

  test.each([
    ["closes the connection", undefined, "has closed the connection"],
    ["does not answer", "", "has not answered within 300 ms"],
    ["answers no JSON", '{"id" 1}', "sends a message that is not JSON"],
    ["answers text", "SSH-2.0", "sends a message that is not a JSON object"],
    ["answers another request", '{"id":7,"result":[],"error":null}', "sends the answer to another request"],
    ["answers too few results", '{"id":1,"result":[],"error":null}', "sends an answer without the results of all operations"],
    ["answers too deep a message", '{"a":' + "[".repeat(20), "sends a message with more than 16 levels"],
    ["answers without end", " ".repeat(9_000_000), "sends a message of more than 8388608 bytes"],
    ["answers other rows", '{"id":1,"result":[{"rows":[{"_uuid":["uuid","x"]}]}],"error":null}', "rows that the schema"],
  ])("refuses a database that %s", async (_, reply, why) => {
    await answering(reply);
    const limit = reply === "" ? { maxMs: 300 } : {};
    expect(await call({ verb: "DEL", ...limit }).removePorts()).toMatchObject({
      err: { code: 11, msg: expect.stringContaining(why) },
    });
  });
});
