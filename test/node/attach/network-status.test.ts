// The network-status annotation (NPWG section 5) that Plexus makes from results of plugins, through the installed binary.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { openStage, type Attaching, type Stage } from "../../lab/stage.ts";

type Entry = Readonly<Record<string, unknown>>;

const veth = { name: "veth1", mac: "02:00:00:00:00:01" };
const first = { name: "wan0", mac: "02:00:00:00:00:02", sandbox: "/any", mtu: 1450 };
const second = { name: "wan1", mac: "02:00:00:00:00:03", sandbox: "/any" };
const hostIp = { address: "192.0.2.1/24", interface: 0 };
const ips = [hostIp, { address: "192.0.2.2/24", interface: 1 }, { address: "2001:db8::2/64", interface: 1 }];
const dns = { nameservers: ["192.0.2.53"], domain: "example.com", search: ["a.example.com"], options: ["ndots:1"] };

describe.skipIf(missingForMixed("network status"))("the network status", () => {
  let stage: Stage;
  let manifests: Manifests;
  let main: RecorderPlugin;
  let one: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    main = installRecorder(stage.plexus.cniPath, "main");
    one = installRecorder(stage.plexus.cniPath, "one");
    manifests.network("one", [{ type: "one" }]);
  });
  afterEach(() => stage.dispose());

  /** The status entries of pod `web`, whose network `one` has a plugin that prints `printed`. */
  const entries = async (
    printed: object,
    profile: "strict" | "compat" = "strict",
    selection: string | readonly object[] = "one",
  ): Promise<readonly Entry[]> => {
    one.script("ADD", { stdout: JSON.stringify(printed) });
    manifests.pod("web", selection);
    const config = stage.network([{ type: "main" }], { manifests: manifests.directory, profile });
    const web: Attaching = { config, containerId: "ctr-web", pod: stage.pod(), args: manifests.argsOf("web") };
    await stage.succeed("ADD", web);
    const all = manifests.statusOf("web") as readonly Entry[];
    await stage.succeed("DEL", web);
    // Every status: each entry has a name and a boolean `default`, which is true in one entry. No entry has a MAC without an interface.
    expect(all.filter((each) => each["default"] === true)).toHaveLength(1);
    for (const each of all) {
      expect([typeof each["default"], String(each["name"]).length > 0]).toEqual(["boolean", true]);
      expect("mac" in each && !("interface" in each)).toBe(false);
    }
    return all;
  };

  test("N1-37, N1-39, N1-44, N1-46, N1-50, N1-52, N1-53, N1-55: with the profile `strict` describes the first sandbox interface, even if its plugin renamed it", async () => {
    const all = await entries({ cniVersion: "1.0.0", interfaces: [veth, first, second], ips, dns });
    expect(all).toEqual([
      { name: "pods", interface: "eth0", ips: ["10.99.0.2/24"], default: true },
      {
        name: "shop/one",
        interface: "wan0",
        ips: ["192.0.2.2/24", "2001:db8::2/64"],
        mac: first.mac,
        default: false,
        dns: { nameservers: dns.nameservers, domain: dns.domain, search: dns.search },
      },
    ]);
  });

  test("D-05, D-06, D-12: with the profile `compat` has an entry for each interface, addresses without prefix length, gateway and mtu, as Multus has", async () => {
    const routes = [{ dst: "0.0.0.0/0", gw: "192.0.2.1" }];
    const all = await entries({ cniVersion: "1.1.0", interfaces: [veth, first, second], ips, routes, dns }, "compat");
    expect(all.slice(1)).toEqual([
      {
        name: "shop/one",
        interface: "wan0",
        ips: ["192.0.2.2", "2001:db8::2"],
        mac: first.mac,
        mtu: 1450,
        default: false,
        dns,
        gateway: ["192.0.2.1"],
      },
      { name: "shop/one", interface: "wan1", mac: second.mac, default: false },
    ]);
  });

  test("N1-38, N1-41, N1-43, N1-54: has an entry for an empty result; the default network's entry has `default` true", async () => {
    main.script("ADD", { stdout: "{}" });
    for (const profile of ["strict", "compat"] as const) {
      expect(await entries({}, profile)).toEqual([
        { name: "pods", default: true },
        { name: "shop/one", default: false },
      ]);
    }
  });

  const attaching = (): Attaching => {
    const config = stage.network([{ type: "main" }], { manifests: manifests.directory });
    return { config, containerId: "ctr-web", pod: stage.pod(), args: manifests.argsOf("web") };
  };

  describe("of a network whose plugin exits 0 and prints nothing", () => {
    const nothingPrinted = { stdout: "" };

    test("N1-38: has a minimal entry; CHECK and DEL work; the warning names the plugin", async () => {
      one.script("ADD", nothingPrinted);
      manifests.pod("web", "one");
      const web = attaching();
      const { status, stdout, stderr } = await stage.call("ADD", web);
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("10.99.0.2/24") });
      expect(stderr).toMatch(/^plexus: warning: network shop\/one as net1: plugin type="one" .*no result.*\n$/);
      expect(manifests.statusOf("web")).toEqual([
        { name: "pods", interface: "eth0", ips: ["10.99.0.2"], default: true },
        { name: "shop/one", default: false },
      ]);
      await stage.succeed("CHECK", web);
      await stage.succeed("DEL", web);
      const recordedCalls = one.calls().map(({ env, stdin }) => [env["CNI_COMMAND"], (JSON.parse(stdin) as Entry)["prevResult"]]);
      expect(recordedCalls).toEqual([
        ["ADD", undefined],
        ["CHECK", { cniVersion: "1.0.0" }],
        ["DEL", { cniVersion: "1.0.0" }],
      ]);
    });

    test("N1-39: has the previous plugin's result", async () => {
      const two = installRecorder(stage.plexus.cniPath, "two");
      manifests.network("chained", [{ type: "one" }, { type: "two" }]);
      one.script("ADD", {
        stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces: [first], ips: [{ address: "192.0.2.2/24" }] }),
      });
      two.script("ADD", { stdout: "  \n" });
      manifests.pod("web", "chained");
      expect((await stage.call("ADD", attaching())).status).toBe(0);
      expect(manifests.statusOf("web")).toMatchObject([{}, { name: "shop/chained", interface: "wan0", ips: ["192.0.2.2"] }]);
    });

    test("N1-25: is absent if the pod requested an address: the attachment fails and is undone", async () => {
      manifests.network("one", [{ type: "one", capabilities: { ips: true } }]);
      one.script("ADD", nothingPrinted);
      manifests.pod("web", [{ name: "one", ips: ["192.0.2.9/24"] }]);
      expect((await stage.call("ADD", attaching())).json).toMatchObject({ code: 7, msg: expect.stringContaining("192.0.2.9") });
      expect(one.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
    });

    test("L-12: is absent for the default network, whose result the runtime needs: code 6, as from libcni", async () => {
      main.script("ADD", nothingPrinted);
      manifests.pod("web", "one");
      expect((await stage.call("ADD", attaching())).json).toMatchObject({
        code: 6,
        msg: expect.stringMatching(/"main".*result/),
      });
      expect(manifests.statusOf("web")).toBeUndefined();
    });
  });

  test("N1-40, N1-45, N1-49: has both addresses of a result of version 0.2.0 and the requested interface", async () => {
    const old = { cniVersion: "0.2.0", ip4: { ip: "192.0.2.2/24" }, ip6: { ip: "2001:db8::2/64" } };
    expect((await entries(old, "strict", [{ name: "one", interface: "data0" }]))[1]).toEqual({
      name: "shop/one",
      interface: "data0",
      ips: ["192.0.2.2/24", "2001:db8::2/64"],
      default: false,
    });
  });

  test("N1-47, N1-48, N1-51: omits addresses of the node's interface; addresses without an interface appear only if the pod has no interface", async () => {
    const unbound = { address: "192.0.2.2/24" };
    const negative = { address: "192.0.2.3/24", interface: -1 };
    expect((await entries({ cniVersion: "1.0.0", interfaces: [veth], ips: [hostIp, unbound, negative] }))[1]).toEqual({
      name: "shop/one",
      ips: ["192.0.2.2/24", "192.0.2.3/24"],
      default: false,
    });
    const [, bound] = await entries({ cniVersion: "1.0.0", interfaces: [veth, first], ips: [hostIp] });
    expect(bound).toEqual({ name: "shop/one", interface: "wan0", mac: first.mac, default: false });
  });

  test("MA-10: is one line; the status of sixteen attachments is far below Kubernetes' limit", async () => {
    const many = { cniVersion: "1.1.0", interfaces: [veth, first, second], ips, dns };
    const all = await entries(many, "compat", Array.from({ length: 16 }, () => "one").join(","));
    expect(all).toHaveLength(1 + 16 * 2);
    const text = readFileSync(join(manifests.directory, "status", "shop.web.json"), "utf8");
    expect(text.trim()).toBe(JSON.stringify(all));
    expect(Buffer.byteLength(text)).toBeLessThan(262_144 / 8);
  });
});
