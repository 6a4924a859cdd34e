// The delegate dhcp under the delegates bridge-adapter and macvlan, with a real DHCP server, and beside the native plugin with its daemon.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { LeaseRecords } from "../../../host/capabilities/dhcp/lease-records.ts";
import { dhcpServer, type DhcpServer, startDhcpServer } from "../../lab/dhcp-server.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const lacks = missing("the delegate dhcp", privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), dhcpServer);
const ipam = { type: "dhcp", request: [{ option: "33" }], priority: 50 };
const serverLines = ["option lease 3600", "option routes 10.0.0.0 10.60.0.9"];

const network = (of: Stage, main: object): object =>
  of.network([{ ...main, ipam }], {
    wasm: {
      grants: {
        dhcp: { log: {}, dhcp: {} },
        "bridge-adapter": { log: {}, links: { bridges: ["br0"] }, delegation: { plugins: ["dhcp"] } },
        macvlan: { log: {}, links: { parents: ["br0"] }, delegation: { plugins: ["dhcp"] } },
      },
    },
  });

describe.skipIf(lacks)("the delegate dhcp", () => {
  let stage: Stage | undefined;
  let server: DhcpServer | undefined;
  let native: ChildProcess | undefined;
  afterEach(async () => {
    native?.kill("SIGKILL");
    await server?.dispose();
    stage?.dispose();
  });

  const open = async (): Promise<Stage> => {
    stage = openStage({ native: [], components: ["bridge-adapter", "macvlan", "dhcp"] });
    server = await startDhcpServer(stage.node, "br0", serverLines);
    return stage;
  };
  const bridge = { type: "bridge-adapter", bridge: "br0" };
  const result = {
    ips: [{ address: expect.stringMatching(/^10\.60\.0\.\d+\/24$/), gateway: "10.60.0.1" }],
    routes: [
      { dst: "10.0.0.0/8", gw: "10.60.0.9", priority: 50 },
      { dst: "0.0.0.0/0", gw: "10.60.0.1", priority: 50 },
    ],
  };

  test.each([bridge, { type: "macvlan", master: "br0" }] as const)(
    "DE-DHCP-01 a pod on $type gets the server's address, and gives it back",
    async (main) => {
      if (main.type === "macvlan" && linkType("macvlan")() !== undefined) return;
      const of = await open();
      const one = { config: network(of, main), containerId: "one", pod: of.pod() };
      const added = await of.succeed("ADD", one);
      expect(added.json).toMatchObject(result);
      expect(one.pod.ping("10.60.0.1")).toBe(true);
      const records = new LeaseRecords(of.plexus.state("cni"));
      const [lease] = records.all();
      expect(one.pod.addresses()).toMatchObject([{ link: "eth0", address: `${lease?.terms.address}/24` }]);
      await of.succeed("CHECK", one);
      await of.succeed("DEL", one);
      expect([records.all(), one.pod.links()]).toEqual([[], []]);
      await of.succeed("DEL", one);
    },
  );

  test("without a server an ADD fails with code 11, and leaves nothing", async () => {
    const of = await open();
    await server?.stop();
    const one = { config: network(of, bridge), containerId: "one", pod: of.pod() };
    const failed = await of.call("ADD", one);
    expect(failed.json).toMatchObject({ code: 11, msg: expect.stringContaining("no DHCP server offers an address") });
    expect([new LeaseRecords(of.plexus.state("cni")).all(), one.pod.links()]).toEqual([[], []]);
  });

  test.skipIf(missing("the native plugin dhcp", referencePlugins("bridge", "dhcp")))(
    "DE-DHCP-01 the native plugin with its daemon gives the same result",
    async () => {
      const of = openStage({ native: ["bridge", "dhcp"], components: [] });
      stage = of;
      server = await startDhcpServer(of.node, "br0", serverLines);
      const socket = join(of.plexus.directory, "dhcp.sock");
      const command = [`--net=${of.node.path}`, join(of.plexus.cniPath, "dhcp"), "daemon", "-socketpath", socket];
      native = spawn("nsenter", command, { stdio: "ignore" });
      await expect.poll(() => existsSync(socket), { timeout: 60_000 }).toBe(true);
      const config = of.network([{ type: "bridge", bridge: "br0", ipam: { ...ipam, daemonSocketPath: socket } }]);
      const one = { config, containerId: "one", pod: of.pod() };
      // The native plugin's result of 1.9.1 lacks the metric of `priority`.
      const routes = result.routes.map(({ dst, gw }) => ({ dst, gw }));
      expect((await of.call("ADD", one)).json).toMatchObject({ ...result, routes });
      await of.call("DEL", one);
    },
  );
});
