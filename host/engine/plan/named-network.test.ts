// Calls whose pods select definitions of untrusted namespaces: what runs, under which name, and what DEL and GC do with it.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallStage } from "../testing/call-stage.ts";
import { attaching, failing } from "../testing/scripted-shim.ts";

let stage: CallStage;
beforeEach(() => {
  stage = new CallStage();
  for (const type of ["bridge", "macvlan", "host-device"]) stage.shim.install(type, attaching("10.0.0.2/24"));
  stage.delegates = [{ name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] }];
  stage.config = { manifests: stage.manifests.directory, definitions: {} };
  stage.manifests.pod("web", "storage");
});
afterEach(() => stage.dispose());

const rule = (more: object): object => ({ rules: [{ namespaces: ["shop"], ...more }] });
const add = (definitions?: object) =>
  stage.call({
    verb: "ADD",
    args: stage.manifests.argsOf("web"),
    ...(definitions === undefined ? {} : { config: { definitions } }),
  });
const names = (): readonly unknown[] =>
  stage.shim.calls.map(({ verb, type, configuration }) => [verb, type, configuration["name"]]);

describe("a definition of an untrusted namespace", () => {
  test("runs no native plugin without a rule, and nothing is attached or kept", async () => {
    stage.manifests.network("storage", [{ type: "host-device", device: "uplink0" }]);
    const answer = await add();
    expect(answer.json).toMatchObject({ code: 7, msg: expect.stringContaining('native plugin "host-device" is not allowed') });
    expect([stage.shim.calls, stage.stateFiles()]).toEqual([[], []]);
  });

  test("runs the native plugin that a rule allows, under a name of its own", async () => {
    stage.manifests.network("storage", [{ type: "macvlan", master: "eth1" }]);
    const definitions = rule({ native: { macvlan: { master: ["eth1"] } } });
    expect((await add(definitions)).json).not.toHaveProperty("code");
    expect(names()).toEqual([
      ["ADD", "bridge", "pods"],
      ["ADD", "macvlan", "shop.storage"],
    ]);
    expect(stage.stateFiles()).toContain("results/shop.storage-c1-net1");
    const [plan] = stage.entry();
    expect(plan?.["attachments"]).toMatchObject([
      {},
      { network: "shop.storage", definition: { namespace: "shop", name: "storage" } },
    ]);
  });

  test("passes no device on that the kubelet did not allocate", async () => {
    stage.manifests.pod("web", [{ name: "storage", deviceID: "0000:00:1f.6" }]);
    stage.manifests.network("storage", [{ type: "host-device", capabilities: { deviceID: true } }]);
    const answer = await add(rule({ native: { "host-device": { device: ["eth2"] } } }));
    expect(answer.json).toMatchObject({
      code: 7,
      msg: expect.stringContaining('deviceID "0000:00:1f.6": a device needs a definition'),
    });
    expect(stage.shim.calls).toEqual([]);
  });

  test.each(["prevResult", "PrevRe\u017fult"])("brings no result of its own, which a plugin would act on: %s", async (key) => {
    const foreign = { cniVersion: "0.3.1", interfaces: [], ips: [{ version: "4", address: "10.0.0.9/24" }] };
    stage.manifests.network("storage", [{ type: "macvlan", [key]: foreign }]);
    const answer = await add(rule({ native: { macvlan: "*" } }));
    expect(answer.json).toMatchObject({ code: 7, msg: expect.stringContaining(`key ${JSON.stringify(key)} is not allowed`) });
    expect([stage.shim.calls, stage.stateFiles()]).toEqual([[], []]);
  });

  test("is undone after its rule was removed", async () => {
    stage.manifests.network("storage", [{ type: "macvlan" }]);
    await add(rule({ native: { macvlan: {} } }));
    const answer = await stage.call({ verb: "DEL", config: { definitions: {} } });
    expect(answer.status).toBe(0);
    expect(names().slice(2)).toEqual([
      ["DEL", "macvlan", "shop.storage"],
      ["DEL", "bridge", "pods"],
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("cannot have the default network's name, even if that has a dot", async () => {
    stage.delegates = [{ name: "shop.storage", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] }];
    stage.manifests.network("storage", [{ type: "macvlan" }]);
    const answer = await add(rule({ native: { macvlan: {} } }));
    expect(answer.json).toMatchObject({ code: 7, msg: expect.stringContaining("is reserved") });
  });

  test.each([
    ["in its place", { "v1.multus-cni.io/default-network": "shop/pods" }, undefined],
    ["beside another one in its place", { "v1.multus-cni.io/default-network": "shop/storage" }, "pods"],
  ])("cannot have the cluster's default network's name %s, although a rule shares names", async (_, annotations, selection) => {
    stage.manifests.network("pods", [{ type: "macvlan" }]);
    stage.manifests.network("storage", [{ type: "macvlan" }]);
    stage.manifests.pod("web", selection, annotations);
    const answer = await add(rule({ native: { macvlan: {} }, pools: ["pods"] }));
    expect(answer.json).toMatchObject({ code: 7, msg: expect.stringContaining("is reserved") });
    expect(stage.shim.calls).toEqual([]);
  });

  test("keeps a name that a rule shares", async () => {
    stage.manifests.network("storage", [{ type: "macvlan" }]);
    await add(rule({ native: { macvlan: {} }, pools: ["storage"] }));
    expect(names()[1]).toEqual(["ADD", "macvlan", "storage"]);
  });

  test("gets the GC of its own name only", async () => {
    stage.manifests.definition("storage", {
      config: JSON.stringify({ cniVersion: "1.1.0", name: "pods", plugins: [{ type: "macvlan" }] }),
    });
    await add(rule({ native: { macvlan: {} } }));
    const valid = [{ containerID: "c1", ifname: "eth0" }];
    await stage.succeed({
      verb: "GC",
      config: { definitions: rule({ native: { macvlan: {} } }), "cni.dev/valid-attachments": valid },
    });
    const collected = stage.shim.calls.filter(({ verb }) => verb === "GC");
    expect(
      collected.map(({ type, configuration }) => [type, configuration["name"], configuration["cni.dev/valid-attachments"]]),
    ).toEqual([
      ["bridge", "pods", [{ containerID: "c1", ifname: "eth0" }]],
      ["macvlan", "shop.pods", [{ containerID: "c1", ifname: "net1" }]],
    ]);
  });
});

test("a lost journal keeps the policy: the cached attachment names its definition", async () => {
  stage.manifests.network("storage", [{ type: "macvlan" }]);
  await add(rule({ native: { macvlan: {} } }));
  stage.edit("journal/c1@cluster@eth0", () => "damaged\n");
  stage.shim.install("macvlan", failing(100, "the backend is gone"));
  await stage.call({ verb: "DEL", config: { definitions: {} } });
  const [plan] = stage.entry();
  expect(plan?.["attachments"]).toMatchObject([
    {},
    { network: "shop.storage", definition: { namespace: "shop", name: "storage" } },
  ]);
});

describe("a definition without spec.config", () => {
  beforeEach(() => {
    stage.edit("../net.d/storage.conflist", () =>
      JSON.stringify({ cniVersion: "1.0.0", name: "storage", plugins: [{ type: "macvlan", master: "eth1" }] }),
    );
    stage.manifests.definition("storage");
  });

  test("does not reach the administrator's file of its name without a rule", async () => {
    const answer = await add();
    expect(answer.json).toMatchObject({ code: 7, msg: expect.stringContaining('use the file\'s network "storage" (key files)') });
    expect(stage.shim.calls).toEqual([]);
  });

  test("attaches the file's network unchanged if a rule lists it", async () => {
    expect((await add(rule({ files: ["storage"] }))).json).not.toHaveProperty("code");
    expect(names()[1]).toEqual(["ADD", "macvlan", "storage"]);
  });
});

describe("an entry of a network that no policy binds", () => {
  test("is undone with the configuration that it has", async () => {
    stage.manifests.network("storage", [{ type: "macvlan" }]);
    await add({ trusted: ["*"] });
    const [plan] = stage.entry();
    expect(JSON.stringify(plan)).not.toContain('definition":');
    expect((await stage.call({ verb: "DEL", config: { definitions: {} } })).status).toBe(0);
    expect(names()[2]).toEqual(["DEL", "macvlan", "storage"]);
  });
});
