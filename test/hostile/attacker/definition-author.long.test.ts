// The attacker may create NetworkAttachmentDefinitions and pods in namespace `shop`, and nothing else. The default network is a bridge
// of components that the administrator granted. The attacker tries to change the node's addresses, to take other networks' leases, to
// run native plugins, and to reach the administrator's files.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { type Attaching, fullGrant, openStage, type Stage } from "../../lab/stage.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { leases, type PodNamespace } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";

const unable = missing(
  "an author of definitions",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins("bridge", "host-local", "host-device"),
);

const ipamOf = (subnet: string): object => ({ type: "ipam-host-local", ranges: [[{ subnet }]] });
const refusedAs = (msg: string): object => ({ status: 1, json: { code: 7, msg: expect.stringContaining(msg) } });

/** A network that would replace the node's gateway on the default network's bridge. */
const bridge = (subnet: string, more: object = {}): object[] => [
  { type: "bridge-adapter", bridge: "pods0", isGateway: true, forceAddress: true, ipam: ipamOf(subnet), ...more },
];

/** A network that makes pods ports of the default network's bridge. */
const port = (subnet: string): object[] => [{ type: "bridge-adapter", bridge: "pods0", ipam: ipamOf(subnet) }];

/** The administrator's rule that shares the default network's bridge with the attacker. */
const sharedBridge = (leaseDirectory: string, links: object = {}): object => ({
  grants: {
    "bridge-adapter": {
      log: {},
      links: { bridges: ["pods0"], networks: ["10.10.0.0/16"], forwarding: true, ...links },
      firewall: {},
      delegation: { plugins: ["ipam-host-local"] },
    },
    "ipam-host-local": fullGrant(leaseDirectory),
  },
});

describe.skipIf(unable).each([false, true])("an author of definitions, with a daemon: %j", (withDaemon) => {
  let stage: Stage;
  let manifests: Manifests;
  let daemon: TestDaemon | undefined;
  let daemonDirectory: string;
  let victim: Attaching;

  // All tests share a daemon, as all attackers do: a node's daemon serves them one after the other.
  beforeAll(async () => {
    daemonDirectory = mkdtempSync(join(tmpdir(), "plexus-author-daemon-"));
    daemon = withDaemon ? await startDaemon({ socket: join(daemonDirectory, "plexus.sock") }) : undefined;
  });
  afterAll(async () => {
    await daemon?.stop();
    rmSync(daemonDirectory, { recursive: true });
  });
  beforeEach(async () => {
    stage = openStage({ native: ["bridge", "host-local", "host-device"], components: ["bridge-adapter", "ipam-host-local"] });
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.pod("victim");
    victim = { config: config(), containerId: "victim", pod: stage.pod(), args: manifests.argsOf("victim") };
    await succeed("ADD", victim);
  });
  afterEach(() => stage.dispose());

  const send = (verb: string, attaching: Attaching): Promise<Answer> =>
    stage.request({
      verb,
      config: attaching.config,
      containerId: attaching.containerId,
      ifname: "eth0",
      netns: typeof attaching.pod === "string" ? attaching.pod : attaching.pod.path,
      ...(attaching.args === undefined ? {} : { args: attaching.args }),
      ...(daemon === undefined ? {} : { env: { PLEXUS_SOCKET: daemon.socket } }),
    });
  const succeed = async (verb: string, attaching: Attaching): Promise<void> => {
    const { status, stdout } = await send(verb, attaching);
    expect({ status, error: status === 0 ? "" : stdout }).toEqual({ status: 0, error: "" });
  };

  /** The node's configuration: a granted default network, and these rules for the attacker's namespace. */
  function config(rule?: object, more: object = {}): object {
    const grants = {
      "bridge-adapter": {
        log: {},
        links: { bridges: ["pods0"], networks: ["10.10.0.0/16"], forwarding: true },
        firewall: {},
        delegation: { plugins: ["ipam-host-local"] },
      },
      "ipam-host-local": fullGrant(stage.leases),
    };
    const plugin = { type: "bridge-adapter", bridge: "pods0", isDefaultGateway: true, ipam: ipamOf("10.10.0.0/24") };
    return stage.network([plugin], {
      manifests: manifests.directory,
      confDir: join(stage.plexus.directory, "conf"),
      wasm: { grants },
      definitions: rule === undefined ? {} : { rules: [{ namespaces: ["shop"], ...rule }] },
      ...more,
    });
  }

  const nodeAddresses = (): readonly string[] => stage.node.addresses().map(({ link, address }) => `${link} ${address}`);

  /** Sends the ADD of a pod that selects these definitions, then its DEL. The default network and its leases must stay. */
  async function attack(selection: string, node: object): Promise<Answer> {
    const [addressesBefore, leasesBefore] = [nodeAddresses(), leases(stage.leases)];
    manifests.pod("attacker", selection);
    const pod = { config: node, containerId: "attacker", pod: stage.pod(), args: manifests.argsOf("attacker") };
    const answer = await send("ADD", pod);
    await send("DEL", pod);
    expect(nodeAddresses()).toEqual(addressesBefore);
    expect(leases(stage.leases)).toEqual(leasesBefore);
    expect((victim.pod as PodNamespace).ping("10.10.0.1")).toBe(true);
    return answer;
  }

  describe("on the node's addresses", () => {
    test("has no grant of the default network's delegate", async () => {
      manifests.network("evil", bridge("10.99.0.0/24"));
      expect(await attack("evil", config())).toMatchObject(refusedAs("which the administrator did not grant"));
    });

    test.each([
      ["another subnet", "10.99.0.0/24"],
      ["a narrower prefix within the granted networks", "10.10.0.0/28"],
      ["another subnet within the granted networks", "10.10.7.0/24"],
    ])("cannot put a gateway of %s on a bridge that a rule shares", async (_what, subnet) => {
      manifests.network("evil", bridge(subnet));
      expect(await attack("evil", config(sharedBridge(stage.leases)))).toMatchObject(refusedAs("is not granted"));
    });

    test("cannot take the victim's address for the node", async () => {
      const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.10.0.0/24", gateway: "10.10.0.2" }]] };
      manifests.network("evil", bridge("", { ipam }));
      const answer = await attack("evil", config(sharedBridge(stage.leases)));
      expect(answer).toMatchObject(refusedAs("links.nodeAddresses"));
    });

    test("cannot replace the gateway even by an address that a rule lists", async () => {
      manifests.network("evil", bridge("10.10.0.0/28"));
      const answer = await attack("evil", config(sharedBridge(stage.leases, { nodeAddresses: ["10.10.0.1/28"] })));
      expect(answer).toMatchObject(refusedAs("links.replaceAddresses"));
    });

    test("FI-07: gets no address of another network's subnet on a shared bridge, if the rule bounds the pods' addresses", async () => {
      const rule = sharedBridge(stage.leases, { podNetworks: ["10.10.128.0/24"] });
      for (const subnet of ["10.10.0.0/24", "10.10.0.0/16", "10.10.128.0/17"]) {
        manifests.network("evil", port(subnet));
        expect(await attack("evil", config(rule))).toMatchObject(refusedAs("links.podNetworks has 10.10.128.0/24"));
      }
      manifests.network("fair", port("10.10.128.0/24"));
      expect(await attack("fair", config(rule))).toMatchObject({ status: 0 });
    });

    test("gets the gateway that a rule lists, without replacing another", async () => {
      manifests.network("fair", bridge("10.10.0.0/24", { forceAddress: false }));
      expect(await attack("fair", config(sharedBridge(stage.leases, { nodeAddresses: ["10.10.0.1/24"] })))).toMatchObject({
        status: 0,
      });
    });
  });

  describe("on another pod's rules", () => {
    test("gives no plugin a result of the author's, which names the victim's address", async () => {
      const prevResult = { cniVersion: "0.3.1", interfaces: [], ips: [{ version: "4", address: "10.10.0.2/24" }] };
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      const evil = { cniVersion: "0.3.1", name: "evil", plugins: [{ type: "recorder", prevResult }] };
      manifests.definition("evil", { config: JSON.stringify(evil) });
      const answer = await attack("evil", config({ native: { recorder: "*" } }));
      expect(answer).toMatchObject(refusedAs("prevResult"));
      expect(recorder.calls()).toEqual([]);
    });
  });

  describe("on leases", () => {
    const rule = { native: { bridge: "*" }, ipam: { "host-local": { ranges: "*", dataDir: "*" } } };

    test.each(["pods", "other"])("a definition named like a network holds no address of it: %s", async (name) => {
      mkdirSync(join(stage.leases, "other"), { recursive: true });
      writeFileSync(join(stage.leases, "other", "10.50.0.2"), "foreign\r\neth0");
      const native = { type: "host-local", dataDir: stage.leases, ranges: [[{ subnet: "10.10.0.0/24" }]] };
      manifests.network(name, [{ type: "bridge", bridge: "own0", ipam: native }]);
      const [addresses] = [leases(stage.leases)];
      manifests.pod("attacker", Array.from({ length: 20 }, () => name).join(","));
      const node = config({ ...rule, native: { bridge: { bridge: ["own0"] } } });
      const pod = { config: node, containerId: "attacker", pod: stage.pod(), args: manifests.argsOf("attacker") };
      expect(await send("ADD", pod)).toMatchObject({ status: 0 });
      const held = leases(stage.leases).filter((lease) => !addresses.includes(lease));
      expect(held.filter((lease) => !lease.startsWith(`shop.${name}/`)).toSorted()).toEqual(["pods/10.10.0.3"]);
      const valid = [
        { containerID: "victim", ifname: "eth0" },
        { containerID: "attacker", ifname: "eth0" },
      ];
      const gc = { ...node, cniVersion: "1.1.0", "cni.dev/valid-attachments": valid };
      expect(await stage.request({ verb: "GC", config: gc })).toMatchObject({ status: 0 });
      expect(leases(stage.leases)).toEqual(expect.arrayContaining([...addresses, "pods/10.10.0.3"]));
      await succeed("DEL", pod);
      expect(leases(stage.leases)).toEqual(addresses);
    });

    test("GC of the administrator's own network frees no lease of an owner that the journal never knew", async () => {
      writeFileSync(join(stage.leases, "pods", "10.10.0.99"), "foreign\r\neth0");
      const gc = { ...config(), cniVersion: "1.1.0", "cni.dev/valid-attachments": [{ containerID: "victim", ifname: "eth0" }] };
      expect(await stage.request({ verb: "GC", config: gc })).toMatchObject({ status: 0 });
      expect(leases(stage.leases)).toContain("pods/10.10.0.99");
      expect(readFileSync(join(stage.leases, "pods", "10.10.0.99"), "utf8")).toBe("foreign\r\neth0");
    });
  });

  describe("on native plugins", () => {
    test("cannot move the node's NIC into a pod", async () => {
      stage.node.exec(["ip", "link", "add", "uplink0", "type", "veth", "peer", "name", "uplink1"]);
      manifests.network("evil", [{ type: "host-device", device: "uplink0" }]);
      expect(await attack("evil", config())).toMatchObject(refusedAs('native plugin "host-device" is not allowed'));
      const allowed = config({ native: { "host-device": { device: ["nic*"] } } });
      expect(await attack("evil", allowed)).toMatchObject(refusedAs('"device" with the value "uplink0"'));
      expect(stage.node.links().map(({ name }) => name)).toContain("uplink0");
    });

    test("cannot make directories with host-local", async () => {
      const dataDir = join(stage.plexus.directory, "anywhere");
      const ipam = { type: "host-local", dataDir, ranges: [[{ subnet: "10.60.0.0/24" }]] };
      manifests.network("evil", [{ type: "bridge", bridge: "own0", ipam }]);
      const rule = { native: { bridge: { bridge: ["own0"] } }, ipam: { "host-local": { ranges: "*" } } };
      expect(await attack("evil", config(rule))).toMatchObject(refusedAs('key "dataDir"'));
      expect(leases(dataDir)).toEqual([]);
    });

    test("cannot deceive a plugin written in Go by another spelling of a checked key", async () => {
      manifests.network("evil", [{ type: "bridge", bridge: "own0", NAME: "pods", ipam: ipamOf("10.60.0.0/24") }]);
      expect(await attack("evil", config({ native: { bridge: "*" } }))).toMatchObject(refusedAs('key "NAME"'));
    });

    test("cannot reach a native plugin through a delegate", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "victim");
      const grants = {
        "bridge-adapter": {
          log: {},
          links: { bridges: ["own0"], forwarding: true },
          firewall: {},
          delegation: { plugins: ["*"] },
        },
      };
      manifests.network("ipam", [{ type: "bridge-adapter", bridge: "own0", ipam: { type: "victim" } }]);
      expect(await attack("ipam", config({ grants }))).toMatchObject(refusedAs('native IPAM plugin "victim" is not allowed'));
      manifests.network("bridge", [{ type: "bridge-adapter", backend: "native", bridge: "own0", ipam: ipamOf("10.60.0.0/24") }]);
      expect(await attack("bridge", config({ grants }))).toMatchObject(refusedAs('native plugin "bridge" is not allowed'));
      expect(recorder.calls()).toEqual([]);
    });

    test("has the same bounds for a pod's own default network", async () => {
      manifests.network("evil", [{ type: "host-device", device: "uplink0" }]);
      manifests.pod("attacker", undefined, { "v1.multus-cni.io/default-network": "shop/evil" });
      const pod = { config: config(), containerId: "attacker", pod: stage.pod(), args: manifests.argsOf("attacker") };
      expect(await send("ADD", pod)).toMatchObject(refusedAs('native plugin "host-device" is not allowed'));
    });
  });

  describe("on the administrator's files", () => {
    test("cannot attach to a file's network by its name, with and without namespaceIsolation", async () => {
      mkdirSync(join(stage.plexus.directory, "conf"));
      const list = { cniVersion: "1.0.0", name: "storage", plugins: [{ type: "host-device", device: "uplink0" }] };
      writeFileSync(join(stage.plexus.directory, "conf", "storage.conflist"), JSON.stringify(list));
      manifests.definition("storage");
      for (const more of [{}, { namespaceIsolation: true }])
        expect(await attack("storage", config(undefined, more))).toMatchObject(refusedAs("(key files)"));
    });
  });
});
