// Conflicts with other writers at a real Neutron, and its answers of HTTP 503: the provider in this process.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { neutronProvider } from "../../features/external-ports/controller/neutron/provider.ts";
import { neutronSettings } from "../../features/external-ports/controller/neutron/settings.ts";
import type { PortProvider, PortRequest, ProviderResult } from "../../features/external-ports/controller/provider.ts";
import { type FaultProxy, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, type NeutronObject, startNeutron } from "../lab/neutron/neutron.ts";
import { missingNeutron } from "../lab/neutron/packages.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const nodeName = "node";
/** A pause that the proxy asks for, in seconds. */
const pauseSeconds = 7;

function writesOf(requests: readonly string[], kind: string): number {
  return requests.filter((line) => line.includes(kind)).length;
}

describe.skipIf(missing("conflicts at Neutron", privateNamespaces, missingNeutron))("a port of Neutron", () => {
  let neutron: Neutron;
  let proxy: FaultProxy;
  let network: string;
  let subnet: string;
  let parent: string;
  let trunk: string;
  let keys = 0;

  const provider = (change: object = {}): PortProvider => {
    const settings = { url: proxy.url, auth: { type: "none" }, podSubnet: subnet, driver: "nested-vlan", ...change };
    return neutronProvider(neutronSettings.parse(settings), "test");
  };
  const newRequest = (): PortRequest => {
    const uid = `pod-${keys++}`;
    return { key: `shop/${uid}-0`, pod: { namespace: "shop", name: "web", uid }, nodeName, parameters: {}, requested: {} };
  };
  const ports = async (name: string): Promise<readonly NeutronObject[]> =>
    (await neutron.request("GET", `/ports?name=${name}`)).ports;
  const idOf = async ({ key }: PortRequest): Promise<string> => (await ports(`plexus:test:${key}`))[0]?.id ?? "";
  const newPort = async (name: string, networkId = network): Promise<string> =>
    (await neutron.request("POST", "/ports", { port: { network_id: networkId, name } })).port.id;
  const newTrunk = async (portId: string): Promise<string> =>
    (await neutron.request("POST", "/trunks", { trunk: { port_id: portId } })).trunk.id;
  const addSubport = async (portId: string, vlan: number, to = trunk): Promise<void> => {
    const subport = { port_id: portId, segmentation_type: "vlan", segmentation_id: vlan };
    await neutron.request("PUT", `/trunks/${to}/add_subports`, { sub_ports: [subport] });
  };
  const removeSubport = async (portId: string, from = trunk): Promise<void> => {
    await neutron.request("PUT", `/trunks/${from}/remove_subports`, { sub_ports: [{ port_id: portId }] });
  };
  const subports = async (of = trunk): Promise<readonly (readonly [string, number])[]> =>
    (await neutron.request("GET", `/trunks/${of}`)).trunk.sub_ports.map(
      ({ port_id: id, segmentation_id: vlan }) => [id, vlan] as const,
    );
  /** Runs another writer before each request of this kind, or before those with these numbers from 1. */
  const interfere = (kind: string, write: () => Promise<void>, ...numbers: readonly number[]): void => {
    let count = 0;
    proxy.before = async (line) => {
      if (!line.includes(kind)) return;
      count += 1;
      if (numbers.length === 0 || numbers.includes(count)) await write();
    };
  };
  /** The requests of an operation without queries and IDs, its outcome, and the statuses of Neutron's answers. */
  const observed = async <T>(
    operation: Promise<T>,
  ): Promise<{ readonly outcome: T; readonly requests: readonly string[]; readonly statuses: readonly number[] }> => {
    const [first, answered] = [proxy.requests.length, proxy.statuses.length];
    const outcome = await operation;
    const requests = proxy.requests.slice(first).map((line) =>
      line
        .replace("/v2.0", "")
        .replace(/\?.*/, "")
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]+/g, "ID"),
    );
    return { outcome, requests, statuses: proxy.statuses.slice(answered) };
  };

  beforeAll(async () => {
    neutron = await startNeutron({ name: nodeName });
    proxy = await startFaultProxy(neutron.url);
    network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
    const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", enable_dhcp: false };
    subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
    parent = await newPort(nodeName);
    trunk = await newTrunk(parent);
  });
  afterEach(async () => {
    proxy.fault = () => undefined;
    proxy.before = () => Promise.resolve();
    for (const [id] of await subports()) await removeSubport(id);
    const { ports: all } = await neutron.request("GET", `/ports?network_id=${network}`);
    for (const { id } of all) if (id !== parent) await neutron.request("DELETE", `/ports/${id}`);
  });
  afterAll(async () => {
    proxy?.dispose();
    await neutron?.dispose();
  });

  test("gets the next VLAN if another writer takes the free one first", async () => {
    interfere("add_subports", async () => addSubport(await newPort("other"), 1), 1);
    const { outcome, statuses, requests } = await observed(provider().ensure(newRequest()));
    expect(outcome).toMatchObject({ ok: true, value: { binding: { type: "vlan", vlan: 2 } } });
    expect(statuses).toContain(409);
    expect(writesOf(requests, "add_subports")).toBe(2);
  });

  test("has the VLAN with which another writer adds it first", async () => {
    const wanted = newRequest();
    interfere("add_subports", async () => addSubport(await idOf(wanted), 7), 1);
    const { outcome, statuses } = await observed(provider().ensure(wanted));
    expect(outcome).toMatchObject({ ok: true, value: { binding: { type: "vlan", vlan: 7 } } });
    expect(statuses).toContain(409);
    expect(await subports()).toEqual([[await idOf(wanted), 7]]);
  });

  test("that another writer adds to another trunk is refused with the remedy, and leaves that trunk on release", async () => {
    const [machine, wanted] = [await newPort("another machine"), newRequest()];
    const other = await newTrunk(machine);
    interfere("add_subports", async () => addSubport(await idOf(wanted), 1, other), 1);
    const { outcome, requests } = await observed(provider().ensure(wanted));
    const id = await idOf(wanted);
    expect(outcome).toMatchObject({ ok: false, reason: "refused" });
    expect(outcome).toMatchObject({
      message: expect.stringMatching(
        `^port ${id} is a subport of another trunk than that of node node\\. Remove it from that trunk`,
      ),
    });
    expect(writesOf(requests, "add_subports")).toBe(2);
    expect(await provider().release({ key: wanted.key, providerId: id })).toMatchObject({ ok: true });
    expect([await subports(other), await idOf(wanted)]).toEqual([[], ""]);
    await neutron.request("DELETE", `/trunks/${other}`);
  });

  test("that Neutron does not add for another reason is refused at once, with this reason", async () => {
    await neutron.request("PUT", `/trunks/${trunk}`, { trunk: { admin_state_up: false } });
    const { outcome, requests } = await observed(provider().ensure(newRequest()));
    await neutron.request("PUT", `/trunks/${trunk}`, { trunk: { admin_state_up: true } });
    const message = expect.stringMatching(`^Neutron answers HTTP 409 TrunkDisabled: .*${trunk}`);
    expect(outcome).toMatchObject({ ok: false, reason: "refused", message });
    expect(writesOf(requests, "add_subports")).toBe(1);
  });

  test("leaves its trunk and is deleted, also if it left the trunk meanwhile", async () => {
    const removal = ["GET /ports", "DELETE /ports/ID", "GET /trunks", "PUT /trunks/ID/remove_subports", "DELETE /ports/ID"];
    for (const leaves of [false, true]) {
      const wanted = newRequest();
      expect(await provider().ensure(wanted)).toMatchObject({ ok: true });
      const id = await idOf(wanted);
      if (leaves) interfere("remove_subports", () => removeSubport(id), 1);
      const { outcome, requests, statuses } = await observed(provider().release({ key: wanted.key, providerId: id }));
      expect(outcome).toMatchObject({ ok: true });
      expect(requests).toEqual(removal);
      expect(statuses).toEqual([200, 409, 200, leaves ? 404 : 200, 204]);
      expect([await subports(), await idOf(wanted)]).toEqual([[], ""]);
    }
  });

  test("that becomes a subport before each deletion stays after two tries, with the trunk's ID, until the next release", async () => {
    const wanted = newRequest();
    expect(await provider().ensure(wanted)).toMatchObject({ ok: true });
    const id = await idOf(wanted);
    interfere("DELETE", () => addSubport(id, 9), 2);
    const { outcome, requests } = await observed(provider().release({ key: wanted.key, providerId: id }));
    expect(outcome).toMatchObject({
      ok: false,
      message: expect.stringMatching(`HTTP 409 PortInUseAsSubPort: .*${id} .*${trunk}`),
    });
    expect(writesOf(requests, "DELETE")).toBe(2);
    expect(await provider().release({ key: wanted.key, providerId: id })).toMatchObject({ ok: true });
    expect(await idOf(wanted)).toBe("");
  });

  test("that changes before each write is not taken after four tries, and serves a pod later", async () => {
    const pooled = { driver: "neutron-vif", ahead: [{ subnet, min: 1, max: 1 }] };
    const controller = provider(pooled);
    expect(await controller.ahead?.keep()).toMatchObject({ ok: true });
    const [free] = await ports("plexus:test:free");
    let isUp = true;
    const change = async (): Promise<void> => {
      isUp = !isUp;
      await neutron.request("PUT", `/ports/${free?.id}`, { port: { admin_state_up: isUp } });
    };
    const wanted = newRequest();
    interfere(`PUT /v2.0/ports/${free?.id}`, change);
    const taken = await observed(controller.ensure(wanted));
    expect(taken.statuses.filter((status) => status === 412)).toHaveLength(4);
    const message = expect.stringMatching(`^free port ${free?.id} .*HTTP 412.* 4 times\\. Stop the program`);
    expect(taken.outcome).toMatchObject({ ok: false, reason: "unavailable", message });
    proxy.before = () => Promise.resolve();
    expect(await controller.ahead?.keep()).toMatchObject({ ok: true });
    expect(await controller.ensure(wanted)).toMatchObject({ ok: true, value: { providerId: free?.id } });
  });

  test(
    "is made once and released whole although Neutron answers each request with HTTP 503 at first",
    { timeout: 600_000 },
    async () => {
      const refused = new Set<string>();
      let isPaused = false;
      proxy.fault = (line) => {
        if (refused.has(line)) return undefined;
        refused.add(line);
        isPaused = !isPaused;
        return { status: 503, ...(isPaused ? { headers: { "retry-after": String(pauseSeconds) } } : {}) };
      };
      /** Repeats an operation while it meets a new HTTP 503. */
      const untilDone = async <T>(operation: () => Promise<ProviderResult<T>>): Promise<T> => {
        for (;;) {
          const before = refused.size;
          const outcome = await operation();
          if (outcome.ok) return outcome.value;
          // On a busy machine Neutron answers later than the client waits. A repetition is then due as after an HTTP 503.
          if (refused.size === before && !("status" in outcome)) continue;
          expect(refused.size).toBe(before + 1);
          expect(outcome).toEqual({
            ok: false,
            reason: "unavailable",
            message: "Neutron answers HTTP 503",
            status: 503,
            type: "",
            ...(isPaused ? { pauseMs: pauseSeconds * 1_000 } : {}),
          });
        }
      };
      const controller = provider({ ahead: [{ subnet, min: 1, max: 1 }] });
      await untilDone(async () => controller.ahead?.keep() ?? Promise.reject(new Error("no pools")));
      const wanted = newRequest();
      const { providerId, binding } = await untilDone(() => controller.ensure(wanted));
      expect(binding).toEqual({ type: "vlan", vlan: 1 });
      // The refused change of the free port left it free.
      expect([await ports("plexus:test:free"), await ports(`plexus:test:${wanted.key}`)]).toMatchObject([
        [{}],
        [{ id: providerId }],
      ]);
      expect(await subports()).toEqual([[providerId, 1]]);
      const port = { key: wanted.key, providerId };
      await untilDone(() => controller.active(port));
      expect(await untilDone(() => controller.list())).toEqual([port]);
      await untilDone(() => controller.release(port));
      expect([await subports(), await idOf(wanted)]).toEqual([[], ""]);
      const kinds = [...refused].map((line) => line.replace("/v2.0", "").replaceAll(/[0-9a-f]{8}-[0-9a-f-]+/g, "ID"));
      for (const kind of [
        /^GET \/ports\?name=plexus%3Atest%3Afree/,
        /^GET \/subnets\/ID$/,
        /^POST \/ports$/,
        /^PUT \/ports\/ID\/tags\//,
        /^GET \/ports\?name=plexus%3Atest%3Ashop/,
        /^PUT \/ports\/ID$/,
        /^GET \/networks\/ID$/,
        /^GET \/ports\?name=node/,
        /^GET \/trunks\?port_id=/,
        /^PUT \/trunks\/ID\/add_subports$/,
        /^GET \/ports\/ID\?fields=status$/,
        /^GET \/ports\?tags=/,
        /^DELETE \/ports\/ID$/,
        /^GET \/trunks\?fields=/,
        /^PUT \/trunks\/ID\/remove_subports$/,
      ])
        expect(kinds).toContainEqual(expect.stringMatching(kind));
    },
  );
});
