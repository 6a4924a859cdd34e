// A pod's annotations from the runtime (containerd's capability io.kubernetes.cri.pod-annotations), with and without an API.

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openRig, stdinOf, web, type Rig } from "../../../lab/multus/rig.ts";

const capability = "io.kubernetes.cri.pod-annotations";
const selection = "k8s.v1.cni.cncf.io/networks";

let rig: Rig;
beforeEach(() => {
  rig = openRig("flannel", "calico", "macvlan");
});
afterEach(() => rig.dispose());

function config(annotations: unknown, more: object = {}): Record<string, unknown> {
  return rig.config({
    delegates: [{ cniVersion: "1.0.0", name: "cbr0", type: "flannel" }],
    capabilities: { [capability]: true },
    runtimeConfig: { [capability]: annotations },
    ...more,
  });
}

function withoutApi(annotations: unknown): Record<string, unknown> {
  const { manifests: _, ...rest } = config(annotations);
  return rest;
}

describe("pod annotations from the runtime", () => {
  it("select the pod's networks: Plexus reads the definitions, not the pod, and writes the pod's status", async () => {
    rig.definition("shop", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan" });
    // The API does not have the pod, and Plexus does not read it.
    await rig.succeed("ADD", config({ [selection]: "net@lan0", "kubernetes.io/config.source": "api" }));
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD macvlan lan0"]);
    expect(rig.status(web)).toMatchObject([{ name: "cbr0" }, { name: "shop/net" }]);
    await rig.succeed("DEL", config({}));
    expect(rig.seen()).toEqual(["DEL macvlan lan0", "DEL flannel eth0"]);
  });

  it("MA-01 N1-68 choose the default network, and obey namespaceIsolation, as the API's annotations do", async () => {
    rig.definition("kube-system", "calico", { cniVersion: "1.0.0", name: "calico", type: "calico" });
    rig.definition("other", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan" });
    const namespaceIsolation = true;
    await rig.succeed("ADD", config({ "v1.multus-cni.io/default-network": "calico" }, { namespaceIsolation }));
    expect(rig.seen()).toEqual(["ADD calico eth0"]);
    const refused = await rig.call("ADD", config({ [selection]: "other/net" }, { namespaceIsolation }), { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("namespaceIsolation") });
  });

  it("MO-04 do not replace the API's annotations of a static pod, because the uid in the API is the mirror pod's", async () => {
    const annotations = { "kubernetes.io/config.source": "file" };
    expect((await rig.call("ADD", config(annotations))).json).toMatchObject({ code: 11 });
    rig.pod(web, annotations);
    await rig.succeed("ADD", config(annotations), { containerId: "ctr-2" });
    expect(rig.status(web)).toHaveLength(1);
  });

  it("select configurations in confDir if there is no API; an unknown name fails the pod", async () => {
    rig.file("state/conf/10-net.conf", { cniVersion: "1.0.0", name: "net", type: "macvlan", onDisk: true });
    await rig.succeed("ADD", withoutApi({ [selection]: "net" }));
    const [, second] = rig.calls();
    expect(stdinOf(second)).toMatchObject({ name: "net", onDisk: true });
    const refused = await rig.call("ADD", withoutApi({ [selection]: "gone" }), { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("shop/gone") });
    await rig.succeed("DEL", withoutApi({}));
  });

  it.each([5, ["x"], { [selection]: 5 }])(
    "of the wrong type (%j) fail the pod instead of counting as no selection",
    async (annotations) => {
      const { json } = await rig.call("ADD", config(annotations));
      expect(json).toMatchObject({ code: 7, msg: expect.stringContaining(capability) });
      expect(rig.seen()).toEqual([]);
    },
  );

  it("do not reach the plugins of a network without the capability, nor those of a selected network", async () => {
    rig.definition("shop", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan", capabilities: { [capability]: true } });
    await rig.succeed("ADD", config({ [selection]: "net" }));
    expect(rig.calls().map((call) => stdinOf(call)["runtimeConfig"])).toEqual([undefined, undefined]);
  });
});
