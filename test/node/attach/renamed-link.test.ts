// A pod renames its link and gives the name to another one, as KubeVirt does, or replaces its network namespace. DEL goes by the link's identity.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { inHost, leases, type PodNamespace } from "../../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";
import { fullGrant, openStage, type Attaching, type Stage } from "../../lab/stage.ts";
import type { InstallationInit } from "../../lab/plexus.ts";

const native = ["bridge", "macvlan", "ptp", "host-local"] as const;
const unable = missing(
  "renamed links",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins(...native),
);

interface Variant {
  readonly title: string;
  readonly installation: InstallationInit;
  readonly plugin: object;
}

const withNative: InstallationInit = { native, components: [] };
const withComponents: InstallationInit = { native: [], components: ["bridge-adapter", "macvlan", "ipam-host-local"] };
const variants: readonly Variant[] = [
  { title: "native bridge", installation: withNative, plugin: { type: "bridge", bridge: "br0" } },
  { title: "native macvlan", installation: withNative, plugin: { type: "macvlan", master: "up0" } },
  { title: "native ptp", installation: withNative, plugin: { type: "ptp" } },
  { title: "component bridge-adapter", installation: withComponents, plugin: { type: "bridge-adapter", bridge: "br0" } },
  { title: "component macvlan", installation: withComponents, plugin: { type: "macvlan", master: "up0" } },
];

const withoutMacvlan = missing("renamed macvlans", linkType("macvlan"));
const runnable = variants.filter(({ title }) => !withoutMacvlan || !title.endsWith("macvlan"));

describe.skipIf(unable).each(runnable)("a pod with $title", ({ title, installation, plugin }) => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(installation);
    stage.node.exec(["ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1"]);
    for (const link of ["up0", "up1"]) stage.node.exec(["ip", "link", "set", link, "up"]);
  });
  afterEach(() => stage.dispose());

  type Attached = Attaching & { readonly pod: PodNamespace; readonly containerId: string };

  function attaching(containerId: string, more: object = {}, granted = { bridge: "br0", parent: "up0" }): Attached {
    const ipam =
      installation === withNative
        ? { type: "host-local", ranges: [[{ subnet: "10.10.0.0/29" }]], dataDir: stage.leases }
        : { type: "ipam-host-local", ranges: [[{ subnet: "10.10.0.0/29" }]] };
    const wasm = {
      grants: {
        "bridge-adapter": {
          log: {},
          links: { bridges: [granted.bridge] },
          delegation: { plugins: ["ipam-host-local"] },
          firewall: {},
        },
        macvlan: { log: {}, links: { parents: [granted.parent] }, delegation: { plugins: ["ipam-host-local"] } },
        "ipam-host-local": fullGrant(stage.leases),
      },
    };
    return { config: stage.network([{ ...plugin, ipam, ...more }], { wasm }), containerId, pod: stage.pod() };
  }
  const run = ({ pod }: Attached, script: string): void =>
    expect(pod.exec(["sh", "-ec", script])).toMatchObject({ status: 0, stderr: "" });
  const linksOf = ({ pod }: Attached): readonly string[] => pod.links().map(({ name }) => name);
  const nodeLinks = (): readonly string[] =>
    stage.node
      .links()
      .map(({ name }) => name)
      .filter((name) => !["br0", "up0", "up1"].includes(name));
  const renamed = "ip link set eth0 down; ip link set eth0 name 0a1b2c3d-nic; ip link set 0a1b2c3d-nic up";

  test("FI-15: DEL removes the attachment's link under its new name, and leaves the foreign link with its old name alone", async () => {
    const one = attaching("one");
    await stage.succeed("ADD", one);
    run(one, `${renamed}; ip link add eth0 type bridge; ip address add 192.0.2.1/32 dev eth0`);
    const answer = await stage.call("DEL", one);
    expect([answer.status, answer.stdout]).toEqual([0, ""]);
    expect(answer.stderr).toContain("the pod has another link with this name");
    expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([["eth0"], [], []]);
    // A further DEL changes nothing.
    await stage.call("DEL", { ...one, pod: "" });
    const two = attaching("two");
    await stage.succeed("ADD", two);
    expect(two.pod.addresses().map(({ address }) => address)).toEqual(one.pod.addresses().length === 1 ? ["10.10.0.3/29"] : []);
    await stage.succeed("DEL", two);
  });

  test("FI-15: DEL removes a link that was renamed", async () => {
    const one = attaching("one");
    await stage.succeed("ADD", one);
    run(one, `${renamed}; ip link set 0a1b2c3d-nic address 02:00:00:00:00:99`);
    await stage.succeed("DEL", one);
    expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([[], [], []]);
  });

  // The kernel finds a link by its alternative names, too, and so do plugins.
  test.runIf(title === "native bridge")(
    "FI-15: DEL leaves a link alone whose alternative name is that of the attachment",
    async () => {
      const one = attaching("one");
      await stage.succeed("ADD", one);
      run(one, `${renamed}; ip link add other type bridge; ip link property add dev other altname eth0`);
      expect(await stage.call("DEL", one)).toMatchObject({ status: 0 });
      expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([["other"], [], []]);
    },
  );

  test.runIf(title === "native bridge")("FI-15: DEL removes a link with as many names as the kernel allows", async () => {
    const one = attaching("one");
    await stage.succeed("ADD", one);
    run(one, "for i in $(seq 490); do printf 'link property add dev eth0 altname n%0126d\\n' $i; done | ip -batch -");
    await stage.succeed("DEL", one);
    expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([[], [], []]);
  });

  test("FI-15: DEL leaves the links of another namespace at the same path alone", async () => {
    const one = attaching("one");
    await stage.succeed("ADD", one);
    const { name } = one.pod;
    inHost(["ip", "netns", "delete", name]);
    inHost(["ip", "netns", "add", name]);
    run(one, "ip link add eth0 type bridge");
    const answer = await stage.call("DEL", one);
    expect([answer.status, answer.stdout]).toEqual([0, ""]);
    expect(answer.stderr).toContain("is another network namespace");
    expect([linksOf(one), leases(stage.leases)]).toEqual([["eth0"], []]);
  });

  test("FI-26: an alternative name of the bridge or master serves, if the grant has the link's own name", async () => {
    stage.node.exec(["ip", "link", "add", "br0", "type", "bridge"]);
    // The native plugins know short ones only, and their CHECK none. A bridge that may have to be made has a short name, too.
    const isNative = installation === withNative;
    const alternative = isNative || "bridge" in plugin ? "an-alternative" : "an-alternative-name";
    const link = "bridge" in plugin ? "br0" : "up0";
    expect(stage.node.exec(["ip", "link", "property", "add", "dev", link, "altname", alternative]).stderr).toBe("");
    const named = "bridge" in plugin ? { bridge: alternative } : { master: alternative };
    const one = attaching("one", named);
    await stage.succeed("ADD", one);
    if (!isNative) await stage.succeed("CHECK", one);
    expect(linksOf(one)).toEqual(["eth0"]);
    const master = stage.node.links().find(({ name }) => nodeLinks().includes(name))?.master;
    expect(master).toBe("bridge" in plugin ? "br0" : undefined);
    await stage.succeed("DEL", one);
    expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([[], [], []]);
    if (isNative) return;
    // A grant for the alternative name alone is none for the link.
    const refused = attaching("refused", named, { bridge: "an-*", parent: "an-*" });
    const answer = await stage.call("ADD", refused);
    expect(String(answer.json?.["msg"])).toContain(`"${alternative}" of the node (an alternative name of "${link}")`);
    expect([linksOf(refused), leases(stage.leases)]).toEqual([[], []]);
  });

  test("FI-26: a failed ADD leaves the pod's earlier link alone, and names it", async () => {
    const one = attaching("one");
    run(one, "ip link add eth0 type bridge");
    const answer = await stage.call("ADD", one);
    expect(answer.status).toBe(1);
    const message = String(answer.json?.["msg"]);
    expect(message).toMatch(/eth0/u);
    expect(message).not.toMatch(/link "veth/u);
    expect([linksOf(one), leases(stage.leases), nodeLinks()]).toEqual([["eth0"], [], []]);
    await stage.call("DEL", one);
    expect(linksOf(one)).toEqual(["eth0"]);
  });
});
