// Lost and changed links of pods' further networks: a daemon in this process, an agent, and real namespaces.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { referencePlugins, missing } from "../../lab/requires.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import { type Attaching, type Stage } from "../../lab/stage.ts";

type Attached = Attaching & { readonly pod: ReturnType<Stage["pod"]>; readonly containerId: string };

const soon = { interval: 20, timeout: 60_000 };
const unable = missingForMixed("link-watch") || missing("link-watch", referencePlugins("static"));

describe.skipIf(unable)("the watch over links", () => {
  let node: ReconcileNode;
  let stage: Stage;
  let manifests: Manifests;
  beforeAll(async () => {
    node = new ReconcileNode({ ...mixedInstallation, native: [...mixedInstallation.native, "static"] });
    ({ stage } = node);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    const ipam = (subnet: string): object => ({ type: "host-local", ranges: [[{ subnet }]], dataDir: stage.leases });
    manifests.network("storage", [{ type: "bridge", bridge: "br-storage", ipam: ipam("10.20.0.0/24") }]);
    stage.node.exec(["ip", "link", "add", "low0", "type", "veth", "peer", "name", "low1"]);
    stage.node.exec(["ip", "link", "set", "low0", "up"]);
    stage.node.exec(["ip", "link", "set", "low1", "up"]);
    manifests.network("fast", [{ type: "macvlan", master: "low0", ipam: ipam("10.30.0.0/24") }]);
  });
  afterAll(() => node.dispose());

  let serial = 0;
  async function attached(selection: string, linkWatch: object = {}): Promise<Attached> {
    const name = `watched-${++serial}`;
    manifests.pod(name, selection);
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true, linkWatch });
    const pod = { config, containerId: name, pod: stage.pod(), args: manifests.argsOf(name) };
    await node.succeed("ADD", pod);
    await expect.poll(() => sentence(), soon).toMatch(/^on; [1-9]\d* links watched/u);
    return pod;
  }
  const sentence = (): string => node.daemon.residents.sentences.find(({ name }) => name === "linkWatch")?.sentence() ?? "";
  const ip = (...words: readonly string[]): unknown => stage.node.exec(["ip", "link", ...words]);

  test("WA-01 WA-02: a removed bridge and a removed master are noticed, each in its pod, and their return, too", async () => {
    const pod = await attached("storage,fast");
    await expect.poll(() => sentence(), soon).toBe("on; 2 links watched, 0 lost");
    const end = stage.node.links().find(({ master }) => master === "br-storage")?.name ?? "";
    ip("set", end, "nomaster");
    await expect
      .poll(() => sentence(), soon)
      .toContain(`net1: its end ${end} on the node has lost its master br-storage (now none)`);
    ip("set", end, "master", "br-storage");
    await expect.poll(() => sentence(), soon).toBe("on; 2 links watched, 0 lost");
    ip("del", "br-storage");
    await expect.poll(() => sentence(), soon).toContain("lost its master br-storage");
    ip("del", "low0");
    await expect.poll(() => sentence(), soon).toContain("net2 no longer exists in the pod's network namespace");
    // The native macvlan fails without its link; its DEL is tried again.
    await node.call("DEL", pod);
    await expect.poll(() => sentence(), soon).toBe("on; 0 links watched, 0 lost");
  });
});
