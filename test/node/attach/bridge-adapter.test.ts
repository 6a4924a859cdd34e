// bridge-adapter through the installed binary with one-shot engines: every verb, and the backend `native`.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { leases } from "../../lab/namespaces.ts";
import { command, iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

const unable = missing(
  "bridge-adapter, one-shot",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins("bridge", "static", "host-local"),
);

describe.skipIf(unable)("bridge-adapter", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ native: ["bridge", "static", "host-local"], components: ["bridge-adapter", "ipam-host-local"] });
  });
  afterEach(() => stage.dispose());

  /** A pod on a bridge-adapter network. Its grants cover all that the network needs, unless `grant` replaces some. */
  function attaching(containerId: string, plugin: object, grant: object = {}, cniVersion = "1.1.0"): Attaching {
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.10.0.0/29" }], [{ subnet: "fd00:10::/64" }]] };
    const full = {
      log: {},
      links: { bridges: ["br0"], forwarding: true },
      delegation: { plugins: ["ipam-host-local", "bridge"] },
      firewall: { masquerade: true },
      ...grant,
    };
    const wasm = { grants: { "bridge-adapter": full, "ipam-host-local": fullGrant(stage.leases) } };
    const config = stage.network([{ type: "bridge-adapter", bridge: "br0", isDefaultGateway: true, ipam, ...plugin }], {
      wasm,
      cniVersion,
    });
    return { config, containerId, pod: stage.pod() };
  }

  test("attaches two pods that reach each other, checks and detaches them, and executes nothing native", async () => {
    const [one, two] = [attaching("one", {}), attaching("two", {})];
    const added = await stage.succeed("ADD", one);
    expect(added.json).toMatchObject({
      cniVersion: "1.1.0",
      interfaces: [{ name: "br0" }, { name: expect.stringMatching(/^veth/) }, { name: "eth0" }],
      ips: [
        { address: "10.10.0.2/29", gateway: "10.10.0.1", interface: 2 },
        { address: "fd00:10::2/64", gateway: "fd00:10::1", interface: 2 },
      ],
      routes: [
        { dst: "0.0.0.0/0", gw: "10.10.0.1" },
        { dst: "::/0", gw: "fd00:10::1" },
      ],
    });
    await stage.succeed("ADD", two);
    const [a, b] = [one.pod, two.pod];
    if (typeof a === "string" || typeof b === "string") throw new Error("pods are namespaces");
    expect([a.ping("10.10.0.3"), a.ping("fd00:10::3"), b.ping("10.10.0.1")]).toEqual([true, true, true]);
    for (const each of [one, two]) await stage.succeed("CHECK", each);
    for (const each of [one, two]) await stage.succeed("DEL", each);
    expect(new Set(stage.steps().map(({ kind }) => kind))).toEqual(new Set(["wasm"]));
    expect(stage.left()).toEqual(nothing);
  });

  // A wildcard matches the name of the attachment's veth too.
  test("with a grant of all bridges CHECK finds the node's end of the veth", async () => {
    const one = attaching("one", {}, { links: { bridges: ["*"], forwarding: true } });
    for (const verb of ["ADD", "CHECK", "DEL"]) await stage.succeed(verb, one);
    expect(stage.left()).toEqual(nothing);
  });

  test("with the backend native the native bridge plugin makes the links: ping, CHECK and DEL work", async () => {
    const one = attaching("one", { backend: "native", runtimeConfig: { ips: ["10.10.0.5"] } }, {}, "1.0.0");
    const added = await stage.succeed("ADD", one);
    expect(added.json).toMatchObject({
      interfaces: [{ name: "br0" }, {}, { name: "eth0" }],
      ips: [{ address: "10.10.0.5/29", gateway: "10.10.0.1" }, { address: "fd00:10::2/64" }],
    });
    expect(shown(stage.steps())).toEqual([
      "ADD ipam-host-local wasm nested",
      "ADD bridge native nested",
      "ADD bridge-adapter wasm",
    ]);
    const { pod } = one;
    if (typeof pod === "string") throw new Error("the pod is a namespace");
    expect([pod.ping("10.10.0.1"), pod.addresses().map(({ address }) => address)]).toEqual([
      true,
      ["10.10.0.5/29", "fd00:10::2/64"],
    ]);
    await stage.succeed("CHECK", one);
    await stage.succeed("DEL", one);
    expect(stage.left()).toEqual(nothing);
  });

  test("releases the addresses when the native plugin refuses ADD", async () => {
    const one = attaching("one", { backend: "native", hairpinMode: true, mtu: 3 }, {}, "1.0.0");
    expect(await stage.call("ADD", one)).toMatchObject({ status: 1 });
    expect(stage.left()).toEqual(nothing);
  });

  test("GC releases the addresses of attachments that are not valid; STATUS fails when no address is free", async () => {
    const pods = ["a", "b", "c", "d", "e"].map((id) => attaching(id, { ipMasq: true }));
    for (const each of pods) await stage.succeed("ADD", each);
    const { config } = attaching("f", { ipMasq: true });
    const status = await stage.request({ verb: "STATUS", config: { ...config, cniVersion: "1.1.0" } });
    expect(status).toMatchObject({ status: 1, json: { code: 50 } });
    const valid = [{ containerID: "a", ifname: "eth0" }];
    const collected = await stage.request({
      verb: "GC",
      config: { ...config, cniVersion: "1.1.0", "cni.dev/valid-attachments": valid },
    });
    expect(collected).toMatchObject({ status: 0 });
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/fd00:10::2"]);
    expect(await stage.request({ verb: "STATUS", config: { ...config, cniVersion: "1.1.0" } })).toMatchObject({ status: 0 });
  });

  test.skipIf(missing("rules that GC removes", command("nft", "--version")))(
    "GC removes the masquerade rules of attachments that are not valid",
    async () => {
      for (const id of ["a", "b"]) await stage.succeed("ADD", attaching(id, { ipMasq: true }));
      const rules = (): readonly boolean[] => {
        const { stdout } = stage.node.exec(["nft", "list", "ruleset"]);
        return ["a", "b"].map((id) => stdout.includes(`/pods/${id}/eth0`));
      };
      expect(rules()).toEqual([true, true]);
      const { config } = attaching("f", { ipMasq: true });
      const valid = [{ containerID: "a", ifname: "eth0" }];
      await stage.request({ verb: "GC", config: { ...config, cniVersion: "1.1.0", "cni.dev/valid-attachments": valid } });
      expect(rules()).toEqual([true, false]);
    },
  );

  test("with enabledad ADD refuses an address that another host uses, and leaves nothing", async () => {
    const range = [[{ subnet: "fd00:10::/64", rangeStart: "fd00:10::7", rangeEnd: "fd00:10::7" }]];
    const ipam = { type: "ipam-host-local", ranges: range };
    stage.node.exec([
      "sh",
      "-c",
      "ip link add br0 type bridge && ip link set br0 up && ip address add fd00:10::7/64 dev br0 nodad",
    ]);
    const one = attaching("one", { isDefaultGateway: false, enabledad: true, ipam });
    const refused = await stage.call("ADD", one);
    expect(refused).toMatchObject({ status: 1, json: { msg: expect.stringContaining("fd00:10::7") } });
    expect(stage.left()).toEqual(nothing);
  });

  test("attaches without the grant firewall, checks and detaches, and refuses ipMasq there before it reserves an address", async () => {
    const one = attaching("one", {}, { firewall: undefined });
    await stage.succeed("ADD", one);
    await stage.succeed("CHECK", one);
    await stage.succeed("DEL", one);
    const refused = await stage.call("ADD", attaching("two", { ipMasq: true }, { firewall: undefined }));
    expect(refused).toMatchObject({
      status: 1,
      json: { code: 7, msg: expect.stringContaining("ipMasq: needs the capability firewall") },
    });
    expect(stage.left()).toEqual(nothing);
  });

  test.each([
    ["links.bridges", { links: { bridges: ["br1"], forwarding: true } }, "br0"],
    ["links.forwarding", { links: { bridges: ["br0"] } }, "forwarding"],
    ["firewall.masquerade", { firewall: {} }, "masquerad"],
  ])("without the grant %s ADD fails, names the grant, and leaves nothing", async (key, grant, what) => {
    const refused = await stage.call("ADD", attaching("one", { ipMasq: true }, grant));
    expect(refused).toMatchObject({ status: 1, json: { msg: expect.stringContaining(what) } });
    expect(JSON.stringify(refused.json)).toContain(key);
    expect(stage.left()).toEqual(nothing);
    expect(stage.node.links()).toEqual([]);
  });
});
