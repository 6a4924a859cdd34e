// A real container runtime on a node without native plugins, where components alone attach pods.

import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { nativePlugins, wasmOnlyDelegates, wasmOnlyGrants } from "../../lab/wasm-only.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { nothing, type Stage } from "../../lab/stage.ts";
import { openCriNode, type CriNode } from "../../lab/containerd/cri-node.ts";
import { callingStatus, missingRuntime } from "../../lab/containerd/runtimes.ts";

const bridge = (name: string, subnet: string, more: object = {}): object => ({
  type: "bridge-adapter",
  bridge: name,
  ipam: { type: "ipam-host-local", subnet },
  ...more,
});

// The distribution's containerd executes the native plugin `loopback` itself.
describe.skipIf(missingRuntime("pods without native plugins", callingStatus))(`in ${callingStatus.name}`, () => {
  let node: CriNode;
  let stage: Stage;
  let manifests: Manifests;
  beforeAll(async () => {
    node = await openCriNode(callingStatus.path(), {
      components: [...wasmOnlyDelegates, "status-shaper", "tuning"],
      internalLoopback: true,
    });
    stage = node.stage;
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  });
  afterAll(async () => node?.dispose());

  test("components alone attach and delete pods with a default network and two secondary networks, which ping each other", async () => {
    expect(nativePlugins(stage.plexus.cniPath)).toEqual([]);
    manifests.network("storage", [bridge("br-storage", "10.20.0.0/24"), { type: "status-shaper" }]);
    manifests.network("backup", [bridge("br-backup", "10.21.0.0/24")]);
    for (const pod of ["web", "db"]) manifests.pod(pod, "storage, backup");
    const plugins = [
      bridge("br0", "10.10.0.0/24", { isDefaultGateway: true }),
      { type: "tuning", mtu: 1400, dataDir: stage.tuning },
    ];
    const tuning = { log: {}, links: {}, state: { directories: [stage.tuning] }, sysctl: { keys: ["net/ipv4/conf/IFNAME/*"] } };
    const configuration = stage.host({
      cniVersion: "1.1.0",
      manifests: manifests.directory,
      wasm: { grants: { ...wasmOnlyGrants(["br*"], stage.leases), tuning } },
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins }],
    });
    await node.configure(configuration, "1.1.0");
    expect(await node.networkReady()).toMatchObject({ status: true });
    const [web, db] = [await node.run("web"), await node.run("db")];
    try {
      expect(web.links().map(({ name, mtu }) => `${name} ${mtu}`)).toEqual(["eth0 1400", "net1 1500", "net2 1500"]);
      const targets = db.addresses().map(({ address }) => address.slice(0, address.indexOf("/")));
      expect(targets).toHaveLength(3);
      for (const ip of targets) await expect.poll(() => web.ping(ip), { message: ip }).toBe(true);
    } finally {
      for (const sandbox of [web, db]) await node.remove(sandbox);
    }
    const steps = stage.steps();
    expect(new Set(steps.map(({ kind }) => kind))).toEqual(new Set(["wasm"]));
    expect(new Set(steps.map(({ type }) => type))).toEqual(
      new Set(["bridge-adapter", "ipam-host-local", "status-shaper", "tuning"]),
    );
    expect(stage.left()).toEqual(nothing);
    expect(nativePlugins(stage.plexus.cniPath)).toEqual([]);
  });
});
