// The delegate external-port on real links, through the installed binary. test/cluster/external-ports.test.ts has ports of a real fabric.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";
import { type Attaching, nothing, openStage, type Stage } from "../../lab/stage.ts";

const unable = missing("external-port", privateNamespaces, iproute2, linkType("veth"), linkType("macvlan"));

describe.skipIf(unable)("external-port", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ components: ["external-port"] });
    for (const command of [
      ["ip", "link", "add", "trunk0", "type", "veth", "peer", "name", "trunk1"],
      ["ip", "link", "set", "trunk0", "up"],
      ["ip", "link", "set", "trunk1", "up"],
    ] as const)
      stage.node.exec([...command]);
  });
  afterEach(() => stage.dispose());

  /** A pod with the port `number` of the fabric. */
  function attaching(
    number: number,
    binding: object,
    plugin: object = {},
  ): Attaching & { readonly pod: ReturnType<Stage["pod"]> } {
    const externalPort = {
      providerId: `port-${number}`,
      mac: `fa:16:3e:00:00:0${number}`,
      addresses: [
        { address: `10.9.0.${number}/24`, gateway: "10.9.0.254" },
        { address: `fd00:9::${number}/64`, gateway: "fd00:9::fe" },
      ],
      routes: [{ dst: "10.20.0.0/16" }],
      mtu: 1442,
      binding,
    };
    const config = stage.network([{ type: "external-port", master: "trunk0", capabilities: { externalPort: true }, ...plugin }], {
      cniVersion: "1.1.0",
      runtimeConfig: { externalPort },
      wasm: { grants: { "external-port": { log: {}, links: { parents: ["trunk0"] } } } },
    });
    return { config, containerId: `pod-${number}`, pod: stage.pod() };
  }

  const kinds = [
    { kind: "vlan", binding: { type: "vlan", vlan: 7 }, plugin: {} },
    { kind: "macvlan", binding: { type: "address-only" }, plugin: {} },
    { kind: "ipvlan", binding: { type: "address-only" }, plugin: { addressOnly: "ipvlan" } },
  ] as const;
  for (const { kind, binding, plugin } of kinds) {
    const lacksKind = missing(`external-port with ${kind}`, linkType(kind));
    test.skipIf(lacksKind)(
      `a port as ${kind} has its MAC, MTU, addresses and routes, passes CHECK, and leaves nothing`,
      async () => {
        const one = attaching(1, binding, plugin);
        const { json } = await stage.succeed("ADD", one);
        const [link] = one.pod.links();
        const mac = kind === "ipvlan" ? {} : { mac: "fa:16:3e:00:00:01" };
        expect(link).toMatchObject({ name: "eth0", mtu: 1442, up: true, ...mac });
        expect(one.pod.addresses().map(({ address }) => address)).toEqual(["10.9.0.1/24", "fd00:9::1/64"]);
        expect(one.pod.routes()).toContain("10.20.0.0/16");
        expect(json).toMatchObject({
          interfaces: [{ name: "eth0", mac: link?.mac, mtu: 1442 }],
          ips: [
            { address: "10.9.0.1/24", gateway: "10.9.0.254", interface: 0 },
            { address: "fd00:9::1/64", gateway: "fd00:9::fe", interface: 0 },
          ],
          routes: [{ dst: "10.20.0.0/16" }],
        });
        await stage.succeed("CHECK", one);
        await stage.succeed("DEL", one);
        await stage.succeed("DEL", one);
        expect(one.pod.links()).toEqual([]);
        expect({ ...stage.left(), links: stage.left().links.toSorted() }).toEqual({ ...nothing, links: ["trunk0", "trunk1"] });
      },
    );
  }

  test("FI-21: a master without carrier fails no ADD; the addresses are usable once the carrier comes", async () => {
    stage.node.exec(["ip", "link", "set", "trunk1", "down"]);
    const one = attaching(1, { type: "address-only" });
    await stage.succeed("ADD", one);
    expect(one.pod.addresses().map(({ address }) => address)).toEqual(["10.9.0.1/24", "fd00:9::1/64"]);
    stage.node.exec(["ip", "link", "set", "trunk1", "up"]);
    const shown = (): string => one.pod.exec(["ip", "-6", "address", "show", "dev", "eth0"]).stdout;
    await expect.poll(shown, { interval: 100, timeout: 60_000 }).not.toContain("tentative");
    await stage.succeed("CHECK", one);
    await stage.succeed("DEL", one);
  });

  test("lets two pods with address-only ports reach each other, and finds a changed MAC in CHECK", async () => {
    const [one, two] = [attaching(1, { type: "address-only" }), attaching(2, { type: "address-only" })];
    await stage.succeed("ADD", one);
    await stage.succeed("ADD", two);
    expect([one.pod.ping("10.9.0.2"), two.pod.ping("fd00:9::1")]).toEqual([true, true]);
    one.pod.exec(["ip", "link", "set", "eth0", "address", "02:00:00:00:00:01"]);
    expect((await stage.call("CHECK", one)).json).toMatchObject({
      code: 101,
      msg: expect.stringContaining("has MAC 02:00:00:00:00:01"),
    });
  });

  test.skipIf(missing("VLANs", linkType("vlan")))("KU-22 a VLAN that another pod of the node has is code 11", async () => {
    const [one, two] = [attaching(1, { type: "vlan", vlan: 7 }), attaching(2, { type: "vlan", vlan: 7 })];
    await stage.succeed("ADD", one);
    expect((await stage.call("ADD", two)).json).toMatchObject({ code: 11, msg: expect.stringContaining("VLAN 7 of trunk0") });
    await stage.succeed("DEL", one);
    await stage.succeed("ADD", two);
  });
});
