// Counters of pods' further networks: a daemon in this process, an agent, real namespaces, and plexusctl.

import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TrafficDocument } from "../../../src/net/link-traffic.ts";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed } from "../../lab/mixed-network.ts";
import { dist } from "../../lab/plexus.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";

const soon = { interval: 100, timeout: 60_000 };

describe.skipIf(missingForMixed("link-counters"))("counters of links", () => {
  let node: ReconcileNode;
  let manifests: Manifests;
  beforeAll(async () => {
    node = new ReconcileNode();
    manifests = manifestsIn(join(node.stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    const ipam = { type: "ipam-host-local", subnet: "10.20.0.0/24" };
    manifests.network("storage", [{ type: "bridge", bridge: "br-storage", isGateway: true, ipam }]);
  });
  afterAll(() => node.dispose());

  test("WA-06: a scrape and plexusctl get what the daemon read last, by network, and by pod and interface", async () => {
    const { stage } = node;
    manifests.pod("counted", "storage");
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, linkCounters: true });
    const pod = { config, containerId: "counted", pod: stage.pod(), args: manifests.argsOf("counted") };
    await node.succeed("ADD", pod);
    expect(pod.pod.ping("10.20.0.1")).toBe(true);
    // A question never waits: the first one begins the reading.
    const first = await document(node);
    expect(first).toMatchObject({ ageMs: null, links: [] });
    await expect.poll(async () => (await document(node)).links, soon).toHaveLength(1);
    const [link] = (await document(node)).links;
    expect(link).toMatchObject({ pod: "shop/counted", ifname: "net1", network: "shop/storage" });
    expect(link?.transmit.packets).toBeGreaterThan(0);
    const metrics = await node.daemon.metrics.text();
    const value = new RegExp(
      `^plexus_network_packets_total\\{network="shop/storage",direction="transmit"\\} ${link?.transmit.packets}$`,
      "mu",
    );
    expect(metrics).toMatch(value);
    expect(metrics).not.toContain("shop/counted");
    const top = await promisify(execFile)(process.execPath, [
      join(dist, "plexusctl.cjs"),
      "top",
      "shop/counted",
      "--status-socket",
      join(stage.plexus.directory, "status.sock"),
    ]);
    expect(top.stdout).toMatch(
      /^POD +INTERFACE +NETWORK +RX\/s +TX\/s +RX +TX +ERRORS +DROPS\nshop\/counted +net1 +shop\/storage +/u,
    );
    await node.succeed("DEL", pod);
  });

  test("WA-06: the next daemon counts from its start: earlier traffic of a pod that runs is no sudden increase", async () => {
    const { stage } = node;
    manifests.pod("earlier", "storage");
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, linkCounters: true });
    const pod = { config, containerId: "earlier", pod: stage.pod(), args: manifests.argsOf("earlier") };
    await node.succeed("ADD", pod);
    for (let packets = 0; packets < 20; packets++) expect(pod.pod.ping("10.20.0.1")).toBe(true);
    await node.start();
    await expect.poll(async () => (await document(node)).links, soon).toHaveLength(1);
    const [link] = (await document(node)).links;
    expect(link?.transmit.packets).toBeGreaterThanOrEqual(20);
    const value = /^plexus_network_packets_total\{network="shop\/storage",direction="transmit"\} (\d+)$/mu;
    const counted = value.exec(await node.daemon.metrics.text())?.[1];
    expect(Number(counted)).toBeLessThan(20);
    await node.succeed("DEL", pod);
  });

  test("plexusctl top shows no readings of an hour ago as the traffic of now", async () => {
    const socketPath = join(node.stage.plexus.directory, "old.sock");
    const ages = [3_600_000, 3_600_250, 5];
    // A daemon that was not asked for an hour answers what it has, and reads: a real one has no hour here.
    const server = createServer((_, response) => {
      const ageMs = ages.length > 1 ? ages.shift() : ages[0];
      response.end(JSON.stringify({ apiVersion: "plexus/v1", kind: "LinkTraffic", ageMs, links: [] }));
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const top = (): Promise<{ readonly stdout: string }> => {
      const args = [join(dist, "plexusctl.cjs"), "top", "-o", "json", "--status-socket", socketPath];
      return promisify(execFile)(process.execPath, args);
    };
    try {
      expect(JSON.parse((await top()).stdout)).toMatchObject({ ageMs: 5 });
      ages.splice(0, ages.length, 3_600_000);
      await expect(top()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("reads no counters") });
    } finally {
      server.close();
    }
  });
});

async function document(node: ReconcileNode): Promise<TrafficDocument> {
  const page = await node.daemon.residents.pages["/link-traffic"]?.("GET", "");
  return JSON.parse(page?.body ?? "");
}
