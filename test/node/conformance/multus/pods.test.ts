// The effect of Multus' configuration and annotations on a pod: default networks, other default networks, isolation.

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Answer } from "../../../lab/plexus.ts";
import { openRig, stdinOf, web, type CallOptions, type Pod, type Rig } from "../../../lab/multus/rig.ts";

const selection = "k8s.v1.cni.cncf.io/networks";
const otherDefault = "v1.multus-cni.io/default-network";
const optOut = "plexus.dev/default-networks";

let rig: Rig;
beforeEach(() => {
  rig = openRig("flannel", "calico", "macvlan", "ipvlan");
  rig.pod(web);
});
afterEach(() => rig.dispose());

const network = (name: string, type: string): object => ({ cniVersion: "1.0.0", name, type });

/** A configuration with defaultNetworks. */
function withDefaults(more: object = {}): object {
  return rig.config({ clusterNetwork: "main", defaultNetworks: ["sidecar", "on-disk"], ...more });
}

/** The number of networks that Plexus attaches to a pod. */
async function attached(pod: Pod, more: object = {}): Promise<number> {
  await rig.succeed("ADD", withDefaults(more), { pod, containerId: `ctr-${pod.name}` });
  await rig.succeed("DEL", withDefaults(more), { pod, containerId: `ctr-${pod.name}` });
  expect(rig.status(pod)?.[0]).toMatchObject({ name: "kube-system/main", default: true });
  return rig.calls().length / 2;
}

function plain(more: object = {}): object {
  return rig.config({ delegates: [network("main", "flannel")], ...more });
}

/** An ADD of a pod whose annotation chooses its default network. */
function choosing(annotation: string, more: object = {}, options: CallOptions = {}): Promise<Answer> {
  rig.pod(web, { [otherDefault]: annotation });
  return rig.call("ADD", plain(more), options);
}

function isolated(more: object = {}): object {
  return { namespaceIsolation: true, ...more };
}

/** An ADD of a pod with namespaceIsolation on. */
function selecting(annotation: string, more: object, containerId: string): Promise<Answer> {
  rig.pod(web, { [selection]: annotation });
  return rig.call("ADD", plain(isolated(more)), { containerId });
}

/** The part of CNI_ARGS that Plexus appended to the runtime's part. */
function appendedArgs(args: string | undefined): string | undefined {
  return args?.split(";K8S_POD_UID=uid-web")[1];
}

describe("defaultNetworks", () => {
  beforeEach(() => {
    rig.definition("kube-system", "main", network("main", "flannel"));
    rig.definition("kube-system", "sidecar", network("sidecar", "macvlan"));
    rig.file("state/conf/10-on-disk.conf", network("on-disk", "ipvlan"));
  });

  it("MC-07 MC-09 are attached to every pod, before the networks that it selects, and listed in its status", async () => {
    rig.definition("shop", "own", network("own", "calico"));
    rig.pod(web, { [selection]: "own" });
    await rig.succeed("ADD", withDefaults());
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD macvlan net1", "ADD ipvlan net2", "ADD calico net3"]);
    expect(rig.status(web)?.map(({ name, interface: ifname, default: main }) => [name, ifname, main])).toEqual([
      ["kube-system/main", "eth0", true],
      ["kube-system/sidecar", "net1", false],
      ["on-disk", "net2", false],
      ["shop/own", "net3", false],
    ]);
    await rig.succeed("DEL", withDefaults());
    expect(rig.seen()).toEqual(["DEL calico net3", "DEL ipvlan net2", "DEL macvlan net1", "DEL flannel eth0"]);
  });

  it("MC-08 are not attached to pods in systemNamespaces, whatever a pod's name; the status is written in all namespaces", async () => {
    const namedLikeSystem: Pod = { namespace: "shop", name: "kube-system" };
    const dns: Pod = { namespace: "kube-system", name: "dns" };
    const guard: Pod = { namespace: "guard", name: "one" };
    for (const pod of [namedLikeSystem, dns, guard]) rig.pod(pod);
    expect([await attached(namedLikeSystem), await attached(dns), await attached(guard)]).toEqual([3, 1, 3]);
    const systemNamespaces = { systemNamespaces: ["guard"] };
    expect([await attached(dns, systemNamespaces), await attached(guard, systemNamespaces)]).toEqual([3, 1]);
    expect(await attached(dns, { systemNamespaces: [] })).toBe(3);
  });

  it("MC-07 are not attached to a pod that opts out with the annotation none; any other value fails the pod", async () => {
    rig.pod(web, { [optOut]: "none" });
    await rig.succeed("ADD", withDefaults());
    expect(rig.seen()).toEqual(["ADD flannel eth0"]);
    rig.pod(web, { [optOut]: "sidecar" });
    const refused = await rig.call("ADD", withDefaults(), { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining(`${optOut} can be "none" only`) });
    expect(rig.seen()).toEqual([]);
  });

  it("MC-07 fail the pod before the first attachment if one of them is unknown", async () => {
    const { json } = await rig.call("ADD", withDefaults({ defaultNetworks: ["sidecar", "gone"] }));
    expect(json).toMatchObject({ code: 7, msg: expect.stringContaining("defaultNetworks[1]: ") });
    expect(rig.seen()).toEqual([]);
  });
});

describe("the annotation for another default network", () => {
  beforeEach(() => {
    rig.definition("kube-system", "calico-conf", network("calico-conf", "calico"));
    rig.definition("shop", "own", network("own", "ipvlan"));
    rig.definition("other", "net", network("net", "ipvlan"));
  });

  it("MA-01 MC-09 replaces the cluster's default network: a name without a namespace is in multusNamespace", async () => {
    expect((await choosing("calico-conf")).status).toBe(0);
    expect(rig.seen()).toEqual(["ADD calico eth0"]);
    expect(rig.status(web)).toMatchObject([{ name: "kube-system/calico-conf", default: true }]);
    await rig.succeed("DEL", plain());
    expect(rig.seen()).toEqual(["DEL calico eth0"]);
    expect((await choosing("shop/own", {}, { containerId: "ctr-2" })).status).toBe(0);
    expect((await choosing("own", { multusNamespace: "shop" }, { containerId: "ctr-3" })).status).toBe(0);
    expect(rig.seen()).toEqual(["ADD ipvlan eth0", "ADD ipvlan eth0"]);
  });

  it("MA-01 accepts the members of a network selection element, and keeps the runtime's capability arguments", async () => {
    const list = { ...network("calico-conf", "calico"), capabilities: { ips: true, portMappings: true } };
    rig.definition("kube-system", "calico-conf", list);
    const result = {
      cniVersion: "1.0.0",
      interfaces: [{ name: "eth0", sandbox: "/x" }],
      ips: [{ address: "10.5.5.5/24", interface: 0 }],
    };
    rig.plugin("calico").script("ADD", { stdout: JSON.stringify(result) });
    const portMappings = [{ hostPort: 80, containerPort: 8080, protocol: "tcp" }];
    const requested = JSON.stringify([{ name: "calico-conf", ips: ["10.5.5.5"] }]);
    expect((await choosing(requested, { runtimeConfig: { portMappings } })).status).toBe(0);
    expect(stdinOf(rig.calls()[0])["runtimeConfig"]).toEqual({ ips: ["10.5.5.5"], portMappings });
    const other = JSON.stringify([{ name: "calico-conf", ips: ["10.5.5.6"] }]);
    expect((await choosing(other, {}, { containerId: "ctr-2" })).json).toMatchObject({
      code: 7,
      msg: expect.stringContaining("10.5.5.6"),
    });
    expect(rig.seen()).toEqual(["ADD calico eth0", "DEL calico eth0"]);
  });

  it.each([
    ["", "selects 0"],
    ["[]", "selects 0"],
    ["calico-conf,own", "selects 2"],
    ['[{"name":"calico-conf"},{"name":"calico-conf"}]', "selects 2"],
    ["[null]", "element 0"],
    ["../x", "DNS-1123"],
    ["gone", "kube-system/gone"],
    ['[{"name":"calico-conf","interface":"eth5"}]', "the runtime names the default network's interface eth0"],
  ])("MA-01 A-01 A-02 fails the pod with the reason if its value is %j", async (annotation, msg) => {
    const { json } = await choosing(annotation);
    expect(json).toMatchObject({ code: 7, msg: expect.stringContaining(msg) });
    expect(rig.seen()).toEqual([]);
    await rig.succeed("DEL", plain());
  });

  it("N1-68 MC-10 MC-11 MA-01 under isolation takes networks only from the pod's, the global and Multus' namespaces", async () => {
    expect((await choosing("calico-conf", isolated(), { containerId: "ctr-a" })).status).toBe(0);
    expect((await choosing("shop/own", isolated(), { containerId: "ctr-b" })).status).toBe(0);
    rig.calls();
    const refused = await choosing("other/net", isolated(), { containerId: "ctr-c" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("default network other/net") });
    expect(rig.seen()).toEqual([]);
    const global = isolated({ globalNamespaces: "default, other" });
    expect((await choosing("other/net", global, { containerId: "ctr-d" })).status).toBe(0);
    expect((await choosing("other/net", {}, { containerId: "ctr-e" })).status).toBe(0);
  });
});

describe("namespace isolation", () => {
  it("N1-68 MC-10 MC-11 fails a pod that selects a network of another namespace, except of globalNamespaces", async () => {
    for (const namespace of ["shop", "default", "other"]) rig.definition(namespace, "net", network("net", "macvlan"));
    expect((await selecting("net", {}, "ctr-1")).status).toBe(0);
    expect((await selecting("default/net", {}, "ctr-2")).status).toBe(0);
    expect((await selecting("other/net", { globalNamespaces: "other" }, "ctr-3")).status).toBe(0);
    rig.calls();
    for (const [annotation, more] of [
      ["other/net", {}],
      ["net,other/net", {}],
      ["default/net", { globalNamespaces: "other" }],
      ["default/net", { globalNamespaces: "" }],
      ['[{"name":"net","namespace":"other"}]', {}],
    ] as const) {
      const { json } = await selecting(annotation, more, "ctr-4");
      expect(json).toMatchObject({ code: 7, msg: expect.stringContaining("namespaceIsolation is on") });
    }
    expect(rig.seen()).toEqual([]);
    expect((await selecting("other/net", { namespaceIsolation: false }, "ctr-5")).status).toBe(0);
  });

  it("MC-10 does not restrict clusterNetwork and defaultNetworks", async () => {
    rig.definition("kube-system", "sidecar", network("sidecar", "macvlan"));
    rig.definition("kube-system", "main", network("main", "flannel"));
    await rig.succeed("ADD", rig.config({ clusterNetwork: "main", defaultNetworks: ["sidecar"], namespaceIsolation: true }));
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD macvlan net1"]);
  });
});

describe("annotations of Multus' users", () => {
  it("MA-02 MC-23 MC-24 work unchanged in the comma-separated form with an interface", async () => {
    rig.definition("shop", "net-a", network("net-a", "macvlan"));
    rig.definition("other", "net-b", { cniVersion: "1.0.0", name: "net-b", plugins: [{ type: "macvlan" }] });
    rig.pod(web, { [selection]: " net-a@lan0 , other/net-b" });
    const config = rig.config({ delegates: [network("main", "flannel")] });
    // A value with "=" reaches the plugins; Multus' daemon fails on it.
    await rig.succeed("ADD", config, { args: ";FOO=a=b" });
    const calls = rig.calls();
    expect(calls.map(({ env }) => env["CNI_IFNAME"])).toEqual(["eth0", "lan0", "net2"]);
    for (const { env } of calls) {
      expect(env["CNI_ARGS"]).toBe("IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=uid-web;FOO=a=b");
    }
  });

  it("MC-23 put IP= and MAC= into CNI_ARGS only with legacyCniArgs, only for the selected network, and for its DEL too", async () => {
    const mac = "02:00:00:00:00:05";
    const result = {
      cniVersion: "1.0.0",
      interfaces: [{ name: "net1", mac, sandbox: "/x" }],
      ips: [
        { address: "10.5.5.5/24", interface: 0 },
        { address: "fd00::5/64", interface: 0 },
      ],
    };
    rig.plugin("macvlan").script("ADD", { stdout: JSON.stringify(result) });
    rig.definition("shop", "net-a", {
      cniVersion: "1.0.0",
      name: "net-a",
      type: "macvlan",
      capabilities: { ips: true, mac: true },
    });
    rig.pod(web, { [selection]: JSON.stringify([{ name: "net-a", ips: ["10.5.5.5/24", "fd00::5"], mac }]) });
    await rig.succeed("ADD", plain({}));
    await rig.succeed("DEL", plain({}));
    expect(rig.calls().map(({ env }) => appendedArgs(env["CNI_ARGS"]))).toEqual(["", "", "", ""]);
    await rig.succeed("ADD", plain({ legacyCniArgs: true }));
    // CHECK and DEL follow the journal, even if legacyCniArgs has changed.
    await rig.succeed("CHECK", plain({}));
    await rig.succeed("DEL", plain({}));
    const requested = `;MAC=${mac};IP=10.5.5.5/24,fd00::5`;
    expect(rig.calls().map(({ env }) => appendedArgs(env["CNI_ARGS"]))).toEqual(["", requested, "", requested, requested, ""]);
  });
});
