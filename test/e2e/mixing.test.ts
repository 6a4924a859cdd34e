// One configlist, native plugins and WASM delegates side by side, through the installed binary in real network namespaces.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createPodNamespace, hostLinks, inHost, leases, type PodNamespace } from "../harness/namespaces.ts";
import type { Answer } from "../harness/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../harness/requires.ts";
import { nothing, openStage, shown, type Stage } from "./stage.ts";

const requirements = [
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins("bridge", "ptp", "macvlan", "tuning", "host-local"),
] as const;

/** Fails with the plugin's own words. */
function succeeded(answer: Answer): Answer {
  expect({ status: answer.status, stdout: answer.status === 0 ? "" : answer.stdout, stderr: answer.stderr }).toEqual({
    status: 0,
    stdout: "",
    stderr: "",
  });
  return answer;
}

describe.skipIf(missing("mixed chains", ...requirements))("a mixed chain", () => {
  let stage: Stage;
  let pods: PodNamespace[] = [];
  let before: readonly string[] = [];

  beforeEach(() => {
    before = hostLinks().map((link) => link.name);
    stage = openStage({
      native: ["bridge", "ptp", "macvlan", "tuning", "host-local"],
      components: ["ipam-host-local", "status-shaper"],
    });
  });
  afterEach(() => {
    for (const pod of pods) pod.dispose();
    pods = [];
    for (const link of newLinks()) inHost(["ip", "link", "delete", link]);
    stage.dispose();
  });

  const newPod = (): PodNamespace => {
    const pod = createPodNamespace();
    pods.push(pod);
    return pod;
  };
  const newLinks = (): readonly string[] =>
    hostLinks()
      .map((link) => link.name)
      .filter((name) => !before.includes(name));

  const bridge = (more: object = {}): object => ({
    type: "bridge",
    bridge: "br0",
    isDefaultGateway: true,
    ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" },
    ...more,
  });
  const shaper = { type: "status-shaper", dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] } };
  const mixed = (more: object = {}): object => stage.network([bridge(), shaper, { type: "tuning", mtu: 1400 }], more);

  test("native bridge with WASM ipam-host-local, WASM status-shaper and native tuning attach two pods that reach each other", async () => {
    const [a, b] = [newPod(), newPod()];
    const one = { config: mixed(), containerId: "one", pod: a };
    const two = { config: mixed(), containerId: "two", pod: b };

    const added = succeeded(await stage.call("ADD", one));
    expect(shown(stage.steps())).toEqual([
      "ADD ipam-host-local wasm nested",
      "ADD bridge native",
      "ADD status-shaper wasm",
      "ADD tuning native",
    ]);
    expect(added.json).toMatchObject({
      cniVersion: "1.0.0",
      interfaces: [{ name: "br0" }, { name: expect.stringMatching(/^veth/) }, { name: "eth0", sandbox: a.path }],
      ips: [{ address: "10.10.0.2/24", gateway: "10.10.0.1", interface: 2 }],
      routes: [{ dst: "0.0.0.0/0", gw: "10.10.0.1" }],
      dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] },
    });
    succeeded(await stage.call("ADD", two));
    stage.steps();

    expect(a.addresses()).toEqual([{ link: "eth0", address: "10.10.0.2/24", scope: "global" }]);
    expect(a.links()).toMatchObject([{ name: "eth0", up: true, mtu: 1400 }]);
    expect(a.routes()).toContain("default");
    expect([a.ping("10.10.0.3"), b.ping("10.10.0.2"), a.ping("10.10.0.1")]).toEqual([true, true, true]);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.3"]);
    expect(readFileSync(join(stage.leases, "pods", "10.10.0.2"), "utf8")).toBe("one\r\neth0");
    expect(readFileSync(join(stage.leases, "pods", "last_reserved_ip.0"), "utf8")).toBe("10.10.0.3");

    for (const pod of [one, two]) succeeded(await stage.call("CHECK", pod));
    expect(shown(stage.steps()).slice(0, 4)).toEqual([
      "CHECK ipam-host-local wasm nested",
      "CHECK bridge native",
      "CHECK status-shaper wasm",
      "CHECK tuning native",
    ]);

    succeeded(await stage.call("DEL", one));
    expect(shown(stage.steps())).toEqual([
      "DEL tuning native",
      "DEL status-shaper wasm",
      "DEL ipam-host-local wasm nested",
      "DEL bridge native",
    ]);
    expect([a.links(), b.links().length, leases(stage.leases)]).toEqual([[], 1, ["pods/10.10.0.3"]]);
    succeeded(await stage.call("DEL", two));
    expect([b.links(), stage.left(), newLinks()]).toEqual([[], nothing, ["br0"]]);
  });

  test("native ptp with WASM ipam-host-local, dual stack", async () => {
    const [a, b] = [newPod(), newPod()];
    const ranges = [[{ subnet: "10.11.0.0/24" }], [{ subnet: "fd00:11::/64" }]];
    const config = stage.network([
      { type: "ptp", ipam: { type: "ipam-host-local", ranges, routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }] } },
      shaper,
    ]);
    const [one, two] = [
      { config, containerId: "one", pod: a },
      { config, containerId: "two", pod: b },
    ];
    const added = succeeded(await stage.call("ADD", one));
    expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD ptp native", "ADD status-shaper wasm"]);
    expect(added.json).toMatchObject({
      ips: [
        { address: "10.11.0.2/24", gateway: "10.11.0.1" },
        { address: "fd00:11::2/64", gateway: "fd00:11::1" },
      ],
    });
    succeeded(await stage.call("ADD", two));
    expect([a.ping("10.11.0.1"), a.ping("10.11.0.3"), b.ping("10.11.0.2")]).toEqual([true, true, true]);
    expect(leases(stage.leases)).toHaveLength(4);
    succeeded(await stage.call("CHECK", one));
    for (const pod of [one, two]) succeeded(await stage.call("DEL", pod));
    expect([a.links(), b.links(), stage.left(), newLinks()]).toEqual([[], [], nothing, []]);
  });

  test.skipIf(missing("native macvlan", linkType("macvlan")))("native macvlan with WASM ipam-host-local", async () => {
    const [a, b] = [newPod(), newPod()];
    inHost(["ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1"]);
    for (const end of ["up0", "up1"]) inHost(["ip", "link", "set", end, "up"]);
    const config = stage.network([
      { type: "macvlan", master: "up0", mode: "bridge", ipam: { type: "ipam-host-local", subnet: "10.12.0.0/24" } },
      { type: "tuning", mtu: 1300 },
    ]);
    const [one, two] = [
      { config, containerId: "one", pod: a },
      { config, containerId: "two", pod: b },
    ];
    for (const pod of [one, two]) succeeded(await stage.call("ADD", pod));
    expect(shown(stage.steps()).slice(0, 3)).toEqual([
      "ADD ipam-host-local wasm nested",
      "ADD macvlan native",
      "ADD tuning native",
    ]);
    expect(a.links()).toMatchObject([{ name: "eth0", up: true, mtu: 1300 }]);
    expect([a.ping("10.12.0.3"), b.ping("10.12.0.2")]).toEqual([true, true]);
    succeeded(await stage.call("CHECK", one));
    for (const pod of [one, two]) succeeded(await stage.call("DEL", pod));
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
    inHost(["ip", "link", "delete", "up0"]);
  });

  test("native host-local and WASM ipam-host-local lease from one directory in turn, and either gives back only its own", async () => {
    const [a, b] = [newPod(), newPod()];
    const ipam = { subnet: "10.10.0.0/24", dataDir: stage.leases };
    const native = { config: stage.network([bridge({ ipam: { type: "host-local", ...ipam } })]), containerId: "n", pod: a };
    const wasm = { config: stage.network([bridge({ ipam: { type: "ipam-host-local", ...ipam } })]), containerId: "w", pod: b };
    succeeded(await stage.call("ADD", native));
    // A nested native plugin is bridge's own affair: no step of ours.
    expect(shown(stage.steps())).toEqual(["ADD bridge native"]);
    succeeded(await stage.call("ADD", wasm));
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.3"]);
    expect([a.ping("10.10.0.3"), b.ping("10.10.0.2")]).toEqual([true, true]);
    succeeded(await stage.call("DEL", wasm));
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    succeeded(await stage.call("DEL", native));
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
  });

  test.each([
    { version: "0.3.1", check: 1, ips: { version: "4", address: "10.10.0.2/24" } },
    { version: "0.4.0", check: 0, ips: { version: "4", address: "10.10.0.2/24" } },
    { version: "1.0.0", check: 0, ips: { address: "10.10.0.2/24" } },
  ])("speaks $version through the whole chain", async ({ version, check, ips }) => {
    const pod = newPod();
    const attaching = { config: mixed({ cniVersion: version }), containerId: "versions", pod };
    const added = succeeded(await stage.call("ADD", attaching));
    expect(added.json).toMatchObject({ cniVersion: version, ips: [ips], dns: { search: ["shop.example"] } });
    expect(shown(stage.steps())).toHaveLength(4);
    const checked = await stage.call("CHECK", attaching);
    // CHECK came with 0.4.0.
    expect([checked.status, checked.json?.["code"]]).toEqual(check === 0 ? [0, undefined] : [1, 1]);
    succeeded(await stage.call("DEL", attaching));
    expect([pod.links(), stage.left()]).toEqual([[], nothing]);
  });

  describe("DEL", () => {
    test("L-40: repeated succeeds, and says nothing", async () => {
      const pod = newPod();
      const attaching = { config: mixed(), containerId: "again", pod };
      succeeded(await stage.call("ADD", attaching));
      for (const _ of [1, 2, 3]) expect(succeeded(await stage.call("DEL", attaching)).stdout).toBe("");
      expect([pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("of what was never added succeeds", async () => {
      const pod = newPod();
      succeeded(await stage.call("DEL", { config: mixed(), containerId: "never", pod }));
      expect(stage.left()).toEqual(nothing);
    });

    test("with an empty CNI_NETNS gives the address back, the link going with its namespace", async () => {
      const pod = newPod();
      const attaching = { config: mixed(), containerId: "gone", pod };
      succeeded(await stage.call("ADD", attaching));
      succeeded(await stage.call("DEL", { ...attaching, pod: "" }));
      expect(stage.left()).toEqual(nothing);
      pod.dispose();
      await expect.poll(newLinks).toEqual(["br0"]);
    });

    test("after the namespace was deleted gives the address back", async () => {
      const pod = newPod();
      const attaching = { config: mixed(), containerId: "deleted", pod: pod.path };
      succeeded(await stage.call("ADD", attaching));
      pod.dispose();
      succeeded(await stage.call("DEL", attaching));
      expect(stage.left()).toEqual(nothing);
      await expect.poll(newLinks).toEqual(["br0"]);
    });

    test("uses the configuration of the ADD, whatever the runtime sends now", async () => {
      const pod = newPod();
      const attaching = { config: mixed(), containerId: "changed", pod };
      succeeded(await stage.call("ADD", attaching));
      stage.steps();
      succeeded(await stage.call("DEL", { ...attaching, config: stage.network([{ type: "ptp" }]) }));
      expect(shown(stage.steps())[0]).toBe("DEL tuning native");
      expect([pod.links(), stage.left()]).toEqual([[], nothing]);
    });
  });

  test("CHECK fails once the pod's link is gone, and DEL still gives all back", async () => {
    const pod = newPod();
    const attaching = { config: mixed(), containerId: "broken", pod };
    succeeded(await stage.call("ADD", attaching));
    expect(pod.exec(["ip", "link", "delete", "eth0"]).status).toBe(0);
    const checked = await stage.call("CHECK", attaching);
    expect(checked.status).toBe(1);
    expect(checked.json?.["msg"]).toMatch(/network default as eth0: plugin type="bridge" failed \(check\)/);
    succeeded(await stage.call("DEL", attaching));
    expect(stage.left()).toEqual(nothing);
  });

  test("CHECK fails once the lease is gone, and names the delegate", async () => {
    const pod = newPod();
    const attaching = { config: mixed(), containerId: "robbed", pod };
    succeeded(await stage.call("ADD", attaching));
    inHost(["rm", join(stage.leases, "pods", "10.10.0.2")]);
    const checked = await stage.call("CHECK", attaching);
    expect([checked.status, checked.json?.["msg"]]).toEqual([1, expect.stringMatching(/ipam-host-local/)]);
    succeeded(await stage.call("DEL", attaching));
    expect([pod.links(), stage.left()]).toEqual([[], nothing]);
  });

  test("a second ADD is refused and harms nothing", async () => {
    const [a, b] = [newPod(), newPod()];
    const attaching = { config: mixed(), containerId: "twice", pod: a };
    succeeded(await stage.call("ADD", attaching));
    const before = { left: stage.left(), addresses: a.addresses() };
    const again = await stage.call("ADD", attaching);
    expect([again.status, again.json]).toMatchObject([1, { code: 7, msg: expect.stringMatching(/twice.*already attached.*eth0/) }]);
    expect({ left: stage.left(), addresses: a.addresses() }).toEqual(before);
    succeeded(await stage.call("CHECK", attaching));
    const other = { ...attaching, containerId: "other", pod: b };
    succeeded(await stage.call("ADD", other));
    expect(a.ping("10.10.0.3")).toBe(true);
    for (const each of [attaching, other]) succeeded(await stage.call("DEL", each));
    expect([a.links(), b.links(), stage.left()]).toEqual([[], [], nothing]);
  });

  test("an ADD whose last step fails leaves nothing", async () => {
    const pod = newPod();
    const config = stage.network([bridge(), shaper, { type: "tuning", sysctl: { "net.no.such.thing": "1" } }]);
    const attaching = { config, containerId: "failing", pod };
    const added = await stage.call("ADD", attaching);
    expect([added.status, added.json?.["msg"]]).toEqual([1, expect.stringMatching(/network default as eth0: plugin type="tuning" failed/)]);
    expect(shown(stage.steps())).toEqual([
      "ADD ipam-host-local wasm nested",
      "ADD bridge native",
      "ADD status-shaper wasm",
      "ADD tuning native failed",
      "DEL tuning native",
      "DEL status-shaper wasm",
      "DEL ipam-host-local wasm nested",
      "DEL bridge native",
    ]);
    expect([pod.links(), stage.left(), newLinks()]).toEqual([[], nothing, ["br0"]]);
    succeeded(await stage.call("DEL", attaching));
  });
});
