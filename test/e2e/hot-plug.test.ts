// Networks of running pods follow the annotation: a daemon in this process with a directory of manifests, an agent, and real namespaces.

import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { isJsonObject } from "../../src/json/document.ts";
import { leases } from "../harness/namespaces.ts";
import { type Manifests, manifestsIn } from "./manifests.ts";
import { bridgeStep, missingForMixed } from "./mixed-network.ts";
import { ReconcileNode } from "./reconcile-node.ts";
import type { Attaching, Stage } from "./stage.ts";

type Attached = Attaching & { readonly pod: ReturnType<Stage["pod"]>; readonly containerId: string };

const linksOf = ({ pod }: Attached): readonly string[] => pod.links().map(({ name }) => name);

const soon = { timeout: 20_000, interval: 10 };
const expectLinks = (pod: Attached, ...links: readonly string[]): Promise<void> =>
  expect.poll(() => linksOf(pod).toSorted(), soon).toEqual(["eth0", ...links].toSorted());

describe.skipIf(missingForMixed("hot-plug"))("networks of a running pod", () => {
  let node: ReconcileNode;
  let stage: Stage;
  let manifests: Manifests;
  let serial = 0;
  beforeAll(async () => {
    node = new ReconcileNode();
    ({ stage } = node);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    for (const [name, subnet] of [
      ["storage", "10.20.0.0/24"],
      ["fast", "10.30.0.0/24"],
    ] as const) {
      const ipam = { type: "ipam-host-local", subnet };
      manifests.network(name, [{ type: "bridge", bridge: `br-${name}`, ipam }]);
    }
  });
  afterAll(() => node.dispose());

  const config = (more: object = {}): object =>
    stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true, ...more });
  async function attached(selection?: string | readonly object[], more: object = {}): Promise<Attached> {
    const name = `hot-${++serial}`;
    manifests.pod(name, selection);
    const pod = { config: config(more), containerId: name, pod: stage.pod(), args: manifests.argsOf(name) };
    await node.succeed("ADD", pod);
    return pod;
  }
  const select = ({ containerId }: Attached, selection?: string | readonly object[]): void =>
    manifests.pod(containerId, selection);
  /** The pod's network status as `interface network`. */
  const statusOf = ({ containerId }: Attached): readonly string[] => {
    const status = manifests.statusOf(containerId);
    return Array.isArray(status) ? status.filter(isJsonObject).map((each) => `${each["interface"]} ${each["name"]}`) : [];
  };
  const expectStatus = (pod: Attached, ...entries: readonly string[]): Promise<void> =>
    expect.poll(() => statusOf(pod), soon).toEqual(["eth0 pods", ...entries]);
  async function deleted(pod: Attached): Promise<void> {
    await node.succeed("DEL", pod);
    expect(stage.files().state.filter((path) => path.includes(pod.containerId))).toEqual([]);
    expect(linksOf(pod)).toEqual([]);
  }

  test("MO-17 N13-03: a network is attached when the annotation selects it, detached when not, and the status and CHECK follow", async () => {
    const pod = await attached("storage");
    select(pod, "storage,fast");
    await expectLinks(pod, "net1", "net2");
    await expectStatus(pod, "net1 shop/storage", "net2 shop/fast");
    expect(pod.pod.addresses().map(({ link }) => link)).toContain("net2");
    await node.succeed("CHECK", pod);
    // The unnamed network keeps its name, wherever the annotation has it.
    select(pod, "fast");
    await expectLinks(pod, "net2");
    await expectStatus(pod, "net2 shop/fast");
    await node.succeed("CHECK", pod);
    select(pod);
    await expectLinks(pod);
    await expectStatus(pod);
    select(pod, [{ name: "storage", interface: "data" }]);
    await expectLinks(pod, "data");
    await deleted(pod);
    expect(leases(stage.leases)).toEqual([]);
  });
});
