// A pod's annotations from the runtime (containerd's capability io.kubernetes.cri.pod-annotations), with an API and without.

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openRig, stdinOf, web, type Rig } from "./rig.ts";

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

describe("annotations that the runtime gives", () => {
  it("are the pod's selection: the pod itself is not looked up, its definitions are, and its status is told", async () => {
    rig.definition("shop", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan" });
    // The API doesn't have the pod (yet): nothing asks for it.
    await rig.succeed("ADD", config({ [selection]: "net@lan0", "kubernetes.io/config.source": "api" }));
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD macvlan lan0"]);
    expect(rig.status(web)).toMatchObject([{ name: "cbr0" }, { name: "shop/net" }]);
    await rig.succeed("DEL", config({}));
    expect(rig.seen()).toEqual(["DEL macvlan lan0", "DEL flannel eth0"]);
  });

  it("MA-01 N1-68 count for the default network and under isolation like the API's", async () => {
    rig.definition("kube-system", "calico", { cniVersion: "1.0.0", name: "calico", type: "calico" });
    rig.definition("other", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan" });
    const namespaceIsolation = true;
    await rig.succeed("ADD", config({ "v1.multus-cni.io/default-network": "calico" }, { namespaceIsolation }));
    expect(rig.seen()).toEqual(["ADD calico eth0"]);
    const refused = await rig.call("ADD", config({ [selection]: "other/net" }, { namespaceIsolation }), { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("namespaceIsolation") });
  });

  it("MO-04 don't stand in for a static pod, whose uid in the API is its mirror's", async () => {
    const annotations = { "kubernetes.io/config.source": "file" };
    expect((await rig.call("ADD", config(annotations))).json).toMatchObject({ code: 11 });
    rig.pod(web, annotations);
    await rig.succeed("ADD", config(annotations), { containerId: "ctr-2" });
    expect(rig.status(web)).toHaveLength(1);
  });

  it("without an API name configurations in confDir; others fail the pod", async () => {
    rig.file("state/conf/10-net.conf", { cniVersion: "1.0.0", name: "net", type: "macvlan", onDisk: true });
    await rig.succeed("ADD", withoutApi({ [selection]: "net" }));
    const [, second] = rig.calls();
    expect(stdinOf(second)).toMatchObject({ name: "net", onDisk: true });
    const refused = await rig.call("ADD", withoutApi({ [selection]: "gone" }), { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("shop/gone") });
    await rig.succeed("DEL", withoutApi({}));
  });

  it.each([5, ["x"], { [selection]: 5 }])(
    "of the wrong kind (%j) fail the pod: nothing is taken for no selection",
    async (annotations) => {
      const { json } = await rig.call("ADD", config(annotations));
      expect(json).toMatchObject({ code: 7, msg: expect.stringContaining(capability) });
      expect(rig.seen()).toEqual([]);
    },
  );

  it("reach the default network's plugins only where they declare the capability, as every argument does", async () => {
    rig.definition("shop", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan", capabilities: { [capability]: true } });
    await rig.succeed("ADD", config({ [selection]: "net" }));
    expect(rig.calls().map((call) => stdinOf(call)["runtimeConfig"])).toEqual([undefined, undefined]);
  });
});
