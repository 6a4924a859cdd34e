// Configuration lists that mix native plugins and WASM delegates, through the installed binary in real network namespaces.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import { linkType, missing } from "../../lab/requires.ts";
import {
  bridgeStep,
  missingForMixed,
  mixedInstallation,
  mixedNetwork,
  mixedSteps,
  shaperStep,
  tuningStep,
} from "../../lab/mixed-network.ts";
import { nothing, openStage, shown, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("mixed chains"))("a mixed chain", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  test("native bridge with WASM ipam-host-local, WASM status-shaper and native tuning: two pods ping each other", async () => {
    const [a, b] = [stage.pod(), stage.pod()];
    const one = { config: mixedNetwork(stage), containerId: "one", pod: a };
    const two = { config: mixedNetwork(stage), containerId: "two", pod: b };

    const added = await stage.succeed("ADD", one);
    expect(shown(stage.steps())).toEqual(mixedSteps.ADD);
    expect(added.json).toMatchObject({
      cniVersion: "1.0.0",
      interfaces: [{ name: "br0" }, { name: expect.stringMatching(/^veth/) }, { name: "eth0", sandbox: a.path }],
      ips: [{ address: "10.10.0.2/24", gateway: "10.10.0.1", interface: 2 }],
      routes: [{ dst: "0.0.0.0/0", gw: "10.10.0.1" }],
      dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] },
    });
    await stage.succeed("ADD", two);
    stage.steps();

    expect(a.addresses()).toEqual([{ link: "eth0", address: "10.10.0.2/24", scope: "global" }]);
    expect(a.links()).toMatchObject([{ name: "eth0", up: true, mtu: 1400 }]);
    expect(a.routes()).toContain("default");
    expect([a.ping("10.10.0.3"), b.ping("10.10.0.2"), a.ping("10.10.0.1")]).toEqual([true, true, true]);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.3"]);
    expect(readFileSync(join(stage.leases, "pods", "10.10.0.2"), "utf8")).toBe("one\r\neth0");
    expect(readFileSync(join(stage.leases, "pods", "last_reserved_ip.0"), "utf8")).toBe("10.10.0.3");

    await stage.succeed("CHECK", one);
    expect(shown(stage.steps())).toEqual(mixedSteps.CHECK);

    await stage.succeed("DEL", one);
    expect(shown(stage.steps())).toEqual(mixedSteps.DEL);
    expect([a.links(), b.links().length, leases(stage.leases)]).toEqual([[], 1, ["pods/10.10.0.3"]]);
    await stage.succeed("DEL", two);
    expect([b.links(), stage.left()]).toEqual([[], nothing]);
  });

  test("native ptp with WASM ipam-host-local, dual stack", async () => {
    const [a, b] = [stage.pod(), stage.pod()];
    const ranges = [[{ subnet: "10.11.0.0/24" }], [{ subnet: "fd00:11::/64" }]];
    const config = stage.network([
      { type: "ptp", ipam: { type: "ipam-host-local", ranges, routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }] } },
      shaperStep,
    ]);
    const one = { config, containerId: "one", pod: a };
    const two = { config, containerId: "two", pod: b };
    const added = await stage.succeed("ADD", one);
    expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD ptp native", "ADD status-shaper wasm"]);
    expect(added.json).toMatchObject({
      ips: [
        { address: "10.11.0.2/24", gateway: "10.11.0.1" },
        { address: "fd00:11::2/64", gateway: "fd00:11::1" },
      ],
    });
    await stage.succeed("ADD", two);
    expect([a.ping("10.11.0.1"), a.ping("10.11.0.3"), b.ping("10.11.0.2")]).toEqual([true, true, true]);
    expect(leases(stage.leases)).toHaveLength(4);
    await stage.succeed("CHECK", one);
    for (const each of [one, two]) await stage.succeed("DEL", each);
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
  });

  test.skipIf(missing("native macvlan", linkType("macvlan")))("native macvlan with WASM ipam-host-local", async () => {
    const [a, b] = [stage.pod(), stage.pod()];
    stage.node.exec(["ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1"]);
    for (const end of ["up0", "up1"]) stage.node.exec(["ip", "link", "set", end, "up"]);
    const config = stage.network([
      { type: "macvlan", master: "up0", mode: "bridge", ipam: { type: "ipam-host-local", subnet: "10.12.0.0/24" } },
      tuningStep(stage, { mtu: 1300 }),
    ]);
    const one = { config, containerId: "one", pod: a };
    const two = { config, containerId: "two", pod: b };
    await stage.succeed("ADD", one);
    expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD macvlan native", "ADD tuning native"]);
    await stage.succeed("ADD", two);
    expect(a.links()).toMatchObject([{ name: "eth0", up: true, mtu: 1300 }]);
    expect([a.ping("10.12.0.3"), b.ping("10.12.0.2")]).toEqual([true, true]);
    await stage.succeed("CHECK", one);
    for (const each of [one, two]) await stage.succeed("DEL", each);
    stage.node.exec(["ip", "link", "delete", "up0"]);
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
  });

  test("native host-local and WASM ipam-host-local share one lease directory, and each releases only its own leases", async () => {
    const [a, b] = [stage.pod(), stage.pod()];
    const ipam = { subnet: "10.10.0.0/24", dataDir: stage.leases };
    const network = (type: string): object => stage.network([bridgeStep({ ipam: { type, ...ipam } })]);
    const native = { config: network("host-local"), containerId: "native", pod: a };
    const wasm = { config: network("ipam-host-local"), containerId: "wasm", pod: b };
    await stage.succeed("ADD", native);
    // bridge executes the native IPAM plugin itself, so that Plexus records no nested step.
    expect(shown(stage.steps())).toEqual(["ADD bridge native"]);
    await stage.succeed("ADD", wasm);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.3"]);
    expect([a.ping("10.10.0.3"), b.ping("10.10.0.2")]).toEqual([true, true]);
    await stage.succeed("DEL", wasm);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    await stage.succeed("DEL", native);
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
  });

  test.each([
    { version: "0.3.1", check: [1, 1], ips: { version: "4", address: "10.10.0.2/24" } },
    { version: "0.4.0", check: [0, undefined], ips: { version: "4", address: "10.10.0.2/24" } },
    { version: "1.0.0", check: [0, undefined], ips: { address: "10.10.0.2/24" } },
  ])("N1-63: $version is used from the runtime to the plugins and back, CHECK from 0.4.0 on", async ({ version, check, ips }) => {
    const pod = stage.pod();
    const attaching = { config: mixedNetwork(stage, { cniVersion: version }), containerId: "versions", pod };
    const added = await stage.succeed("ADD", attaching);
    expect(added.json).toMatchObject({ cniVersion: version, ips: [ips], dns: { search: ["shop.example"] } });
    expect(shown(stage.steps())).toEqual(mixedSteps.ADD);
    const checked = await stage.call("CHECK", attaching);
    expect([checked.status, checked.json?.["code"]]).toEqual(check);
    await stage.succeed("DEL", attaching);
    expect([pod.links(), stage.left()]).toEqual([[], nothing]);
  });
});
