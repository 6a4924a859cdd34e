// Ports made ahead, with a real Neutron and OVN: the provider in this process, as one controller or as two at once.

import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { neutronProvider } from "../../features/external-ports/controller/neutron/provider.ts";
import { neutronSettings } from "../../features/external-ports/controller/neutron/settings.ts";
import type { PortProvider, PortRequest } from "../../features/external-ports/controller/provider.ts";
import { kuryrVifs } from "../../features/external-ports/rules/kuryr-vifs.ts";
import { type FaultProxy, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, type NeutronObject, startNeutron } from "../lab/neutron/neutron.ts";
import { debianPython, missingNeutron, neutronEnvironment } from "../lab/neutron/packages.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const nodeName = "node";
/** Ports that the test's project may have. */
const quota = 8;

/** Reads vifs with os-vif, as Kuryr's programs do, and prints their values. */
const readVifs = `
import json, sys
import os_vif.objects
from os_vif.objects import base
os_vif.objects.register_all()
values = {}
for name, primitive in json.load(sys.stdin).items():
    vif = base.VersionedObject.obj_from_primitive(primitive)
    subnet = vif.network.subnets.objects[0]
    values[name] = [type(vif).__name__, vif.id, vif.address, vif.active, vif.bridge_name, vif.port_profile.interface_id,
                    vif.network.mtu, str(subnet.cidr), str(subnet.ips.objects[0].address)]
print(json.dumps(values))
`;

/** The ID of the port that the provider makes or takes. */
async function madeBy(each: PortProvider, wanted: PortRequest): Promise<string> {
  const made = await each.ensure(wanted);
  if (!made.ok) throw new Error(made.message);
  return made.value.providerId;
}

describe.skipIf(missing("ports made ahead with Neutron", privateNamespaces, missingNeutron))(
  "ports made ahead in Neutron",
  () => {
    let neutron: Neutron;
    let proxy: FaultProxy;
    let network: string;
    let subnet: string;
    let keys = 0;

    const provider = (change: object = {}): PortProvider =>
      neutronProvider(
        neutronSettings.parse({ url: proxy.url, auth: { type: "none" }, podSubnet: subnet, portSecurity: false, ...change }),
        "test",
      );
    const pooled = (min = 2, max = 4): PortProvider => provider({ ahead: [{ subnet, min, max }] });
    const request = (requested: PortRequest["requested"] = {}): PortRequest => {
      const uid = `pod-${keys++}`;
      return { key: `shop/${uid}-0`, pod: { namespace: "shop", name: "web", uid }, nodeName, parameters: {}, requested };
    };
    const ports = async (name?: string): Promise<readonly NeutronObject[]> =>
      (await neutron.request("GET", `/ports?network_id=${network}${name === undefined ? "" : `&name=${name}`}`)).ports;
    const freePorts = (): Promise<readonly NeutronObject[]> => ports("plexus:test:free");
    const fill = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let count = (await ports()).length; count < quota; count++) {
        ids.push((await neutron.request("POST", "/ports", { port: { network_id: network, name: "filler" } })).port.id);
      }
      return ids;
    };

    beforeAll(async () => {
      neutron = await startNeutron({ name: nodeName });
      proxy = await startFaultProxy(neutron.url);
      network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
      await neutron.request("PUT", "/quotas/fake_project_id", { quota: { port: quota } });
      // Neutron chooses addresses at random from the pool. A test that asks for an address takes one that is not in the pool.
      const pools = [{ start: "10.9.0.2", end: "10.9.0.150" }];
      const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", allocation_pools: pools, enable_dhcp: false };
      subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
    });
    afterEach(async () => {
      proxy.fault = () => undefined;
      for (const { id } of await ports()) await neutron.request("DELETE", `/ports/${id}`);
    });
    afterAll(async () => {
      proxy?.dispose();
      await neutron?.dispose();
    });

    test("are tagged as the cluster's and free; a pod gets one of them, bound to its node, by one write", async () => {
      const controller = pooled(2, 3);
      expect(await controller.ahead?.keep()).toEqual({ ok: true, value: new Map([[subnet, 3]]) });
      const free = await freePorts();
      expect(free).toHaveLength(3);
      for (const port of free)
        expect(port).toMatchObject({ tags: ["plexus-owner:test"], device_id: "", port_security_enabled: false });
      const before = proxy.requests.length;
      const wanted = request();
      const made = await controller.ensure(wanted);
      const writes = proxy.requests.slice(before).filter((each) => !each.startsWith("GET"));
      expect(writes).toEqual([expect.stringMatching(/^PUT \/v2.0\/ports\/[0-9a-f-]+$/)]);
      const [port] = await ports(`plexus:test:${wanted.key}`);
      expect(made).toMatchObject({ ok: true, value: { providerId: port?.id, mac: port?.mac_address } });
      expect(free.map(({ id }) => id)).toContain(port?.id);
      expect(port).toMatchObject({ "binding:host_id": nodeName, device_owner: "compute:plexus", device_id: wanted.pod.uid });
      // The pool is at its minimum, and the port is the pod's for good.
      expect(await controller.ahead?.keep()).toEqual({ ok: true, value: new Map([[subnet, 2]]) });
      expect(await controller.ensure(wanted)).toEqual(made);
      expect(await controller.release({ key: wanted.key, providerId: port?.id ?? "" })).toMatchObject({ ok: true });
      expect((await ports()).map(({ name }) => name)).toEqual(["plexus:test:free", "plexus:test:free"]);
    });

    test("become subports of the node's trunk, with VLANs of their own, and leave the trunk on release", async () => {
      const parent = (await neutron.request("POST", "/ports", { port: { network_id: network, name: nodeName } })).port.id;
      const trunk = (await neutron.request("POST", "/trunks", { trunk: { port_id: parent } })).trunk.id;
      const subports = async () =>
        (await neutron.request("GET", `/trunks/${trunk}`)).trunk.sub_ports.toSorted(
          (a, b) => a.segmentation_id - b.segmentation_id,
        );
      try {
        const controller = provider({ driver: "nested-vlan", ahead: [{ subnet, min: 2, max: 2 }] });
        await controller.ahead?.keep();
        const free = (await freePorts()).map(({ id }) => id);
        const wanted = [request(), request()];
        const made = [];
        for (const each of wanted) made.push(await controller.ensure(each));
        expect(made).toMatchObject([1, 2].map((vlan) => ({ ok: true, value: { binding: { type: "vlan", vlan } } })));
        const ids = made.map((each) => (each.ok ? each.value.providerId : ""));
        expect(ids.toSorted()).toEqual(free.toSorted());
        expect(await subports()).toMatchObject(ids.map((id, index) => ({ port_id: id, segmentation_id: index + 1 })));
        for (const [index, { key }] of wanted.entries())
          expect(await controller.release({ key, providerId: ids[index] ?? "" })).toMatchObject({ ok: true });
        expect(await subports()).toEqual([]);
      } finally {
        await neutron.request("DELETE", `/trunks/${trunk}`);
      }
    });

    test("say when a pool runs low, and are filled again", async () => {
      const controller = pooled(2, 3);
      await controller.ahead?.keep();
      let isLow = false;
      void controller.ahead?.untilLow().then(() => (isLow = true));
      await controller.ensure(request());
      expect(isLow).toBe(false);
      await controller.ensure(request());
      expect(isLow).toBe(true);
      expect(await controller.ahead?.keep()).toEqual({ ok: true, value: new Map([[subnet, 3]]) });
    });

    test("are made by requests of ten ports, so that each is answered in time", async () => {
      await neutron.request("PUT", "/quotas/fake_project_id", { quota: { port: 12 } });
      const before = proxy.requests.length;
      expect(await pooled(12, 12).ahead?.keep()).toEqual({ ok: true, value: new Map([[subnet, 12]]) });
      const made = proxy.requests.slice(before).filter((each) => each.startsWith("POST"));
      expect(made).toEqual(["POST /v2.0/ports", "POST /v2.0/ports"]);
      await neutron.request("PUT", "/quotas/fake_project_id", { quota: { port: quota } });
    });

    test("are given to one pod each by two controllers with the same list, which learn of HTTP 412", async () => {
      const [first, second] = [pooled(4, 4), pooled(4, 4)];
      await first.ahead?.keep();
      await second.ahead?.keep();
      const before = proxy.statuses.length;
      const ids = await Promise.all([first, second, first, second, first, second].map((each) => madeBy(each, request())));
      expect(new Set(ids).size).toBe(6);
      expect(proxy.statuses.slice(before)).toContain(412);
      const named = (await ports()).filter(({ name }) => name.startsWith("plexus:test:shop/"));
      expect(named.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(await freePorts()).toEqual([]);
    });

    test("are taken although Neutron has changed them meanwhile", async () => {
      const controller = pooled(1, 1);
      await controller.ahead?.keep();
      const [port] = await freePorts();
      await neutron.request("PUT", `/ports/${port?.id}`, { port: { admin_state_up: false } });
      await neutron.request("PUT", `/ports/${port?.id}`, { port: { admin_state_up: true } });
      expect(await controller.ensure(request())).toMatchObject({ ok: true, value: { providerId: port?.id } });
    });

    test("that a pod has are not given back by another controller with an older list", async () => {
      const first = pooled(2, 2);
      await first.ahead?.keep();
      // The late controller has no pool: it lists the free ports, and the first gives both to pods before the late one writes.
      const late = provider({});
      const taken = Promise.withResolvers<void>();
      proxy.before = (line) => (line.startsWith("DELETE") ? taken.promise : Promise.resolve());
      const listed = proxy.requests.length;
      const kept = late.ahead?.keep();
      await vi.waitFor(() => expect(proxy.requests.slice(listed).join()).toContain("DELETE"), { timeout: 60_000 });
      const ids = [await madeBy(first, request()), await madeBy(first, request())];
      taken.resolve();
      proxy.before = () => Promise.resolve();
      expect(await kept).toMatchObject({ ok: true });
      expect((await ports()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });

    test("outlive a controller that is cut off at each of its requests, and none is lost", async () => {
      for (let cut = 1; ; cut++) {
        let count = 0;
        proxy.fault = () => (++count >= cut ? "hang up after" : undefined);
        const dying = pooled(2, 3);
        await dying.ahead?.keep();
        const wanted = request();
        await dying.ensure(wanted);
        proxy.fault = () => undefined;
        const isWhole = count < cut;
        const next = pooled(2, 3);
        expect(await next.ahead?.keep()).toMatchObject({ ok: true });
        expect(await next.ensure(wanted)).toMatchObject({ ok: true });
        expect(await next.ahead?.keep()).toMatchObject({ ok: true });
        const all = await ports();
        expect(all.filter(({ name }) => name === `plexus:test:${wanted.key}`)).toHaveLength(1);
        expect(all.filter(({ name }) => name === "plexus:test:free").length).toBeLessThanOrEqual(3);
        for (const port of all) expect(port).toMatchObject({ tags: ["plexus-owner:test"] });
        expect(await next.release({ key: wanted.key, providerId: "" })).toMatchObject({ ok: true });
        if (isWhole) break;
      }
    });

    test("KU-12 KU-13 are read by OpenStack's own library from Kuryr's form", async () => {
      const made = await provider().ensure(request());
      if (!made.ok) throw new Error(made.message);
      const { providerId, mac, addresses } = made.value;
      const vifs = kuryrVifs([{ name: "net1", port: made.value, isActive: true }], "br-int");
      const env = neutronEnvironment(neutron.directory);
      const read = spawnSync(debianPython, ["-c", readVifs], { env, input: JSON.stringify(vifs), encoding: "utf8" });
      expect(read.stderr).toBe("");
      const [subnetRead] = (await neutron.request("GET", `/ports/${providerId}`)).port.fixed_ips;
      expect(JSON.parse(read.stdout)).toEqual({
        net1: ["VIFOpenVSwitch", providerId, mac, true, "br-int", providerId, 1442, "10.9.0.0/24", subnetRead?.ip_address],
      });
      expect(addresses).toHaveLength(1);
    });

    test("of other settings, and all of them once the pool is switched off, are given back and never used", async () => {
      await pooled(2, 2).ahead?.keep();
      const before = (await freePorts()).map(({ id }) => id);
      const changed = provider({ ahead: [{ subnet, min: 1, max: 1 }], portSecurity: true });
      expect(await changed.ahead?.keep()).toEqual({ ok: true, value: new Map([[subnet, 1]]) });
      const [port] = await freePorts();
      expect(port).toMatchObject({ port_security_enabled: true });
      expect(before).not.toContain(port?.id);
      expect(await provider().ahead?.keep()).toEqual({ ok: true, value: new Map() });
      expect(await ports()).toEqual([]);
    });

    test("give way to a pod that asks for one of their addresses, or for its own MAC address", async () => {
      const controller = pooled(2, 2);
      await controller.ahead?.keep();
      const [port] = await freePorts();
      const address = port?.fixed_ips[0]?.ip_address ?? "";
      expect(await controller.ensure(request({ ips: [address] }))).toMatchObject({
        ok: true,
        value: { addresses: [{ address: `${address}/24` }] },
      });
      expect(await freePorts()).toHaveLength(1);
      expect(await controller.ensure(request({ mac: "02:00:00:00:00:55" }))).toMatchObject({
        ok: true,
        value: { mac: "02:00:00:00:00:55" },
      });
      expect(await freePorts()).toHaveLength(1);
    });

    test("stop at a quota that is full, and give a pod their share of the quota", async () => {
      const controller = pooled(2, 8);
      const fillers = await fill();
      expect(await controller.ahead?.keep()).toMatchObject({
        ok: false,
        reason: "quota",
        message: expect.stringContaining("OverQuota"),
      });
      for (const id of fillers.slice(0, 3)) await neutron.request("DELETE", `/ports/${id}`);
      // As many as fit, by halves of eight.
      expect(await controller.ahead?.keep()).toMatchObject({ ok: false, reason: "quota" });
      expect(await freePorts()).toHaveLength(2);
      await fill();
      expect(await controller.ensure(request({ ips: ["10.9.0.200"] }))).toMatchObject({ ok: true });
      expect(await freePorts()).toHaveLength(1);
      expect(await controller.ensure(request())).toMatchObject({ ok: true });
      expect(await freePorts()).toHaveLength(0);
      expect(await controller.ensure(request())).toMatchObject({ ok: false, reason: "quota" });
    });
  },
);
