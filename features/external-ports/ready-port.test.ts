import { expect, test } from "vitest";
import { externalPortObject } from "./rules/wanted-ports.ts";
import { ok } from "../../src/fault/result.ts";
import type { ClusterApi } from "../../host/cluster/object-source.ts";
import { readyPort } from "./ready-port.ts";

const use = { podUid: "u1", definition: "networks/backend", provider: "neutron" };

/** An API whose only ExternalPort was made for this use, and is ready or pending. */
function apiOf(definition: string, provider: string, isReady = true, podUid = "u1"): ClusterApi {
  const [namespace = "", name = ""] = definition.split("/");
  const made = { podName: "web", podUid, nodeName: "n", index: 0, parameters: "{}", requested: {} };
  const object = externalPortObject("shop", { ...made, definition: { namespace, name }, provider });
  const metadata = { ...(object["metadata"] as object), name: "u1-0", uid: "x", resourceVersion: "1" };
  const conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "" }];
  const binding = { type: "vlan", vlan: 42 };
  const ready = { providerId: "p", mac: "02:00:00:00:00:07", addresses: [], binding, conditions };
  const status = isReady ? { status: ready } : {};
  const body = JSON.stringify({ ...object, metadata, ...status });
  return { call: async () => ok({ status: 200, body }), pause: async () => false };
}

test("a port of the definition that the pod selects is given", async () => {
  const ready = await readyPort(apiOf("networks/backend", "neutron"), "shop", "u1-0", use);
  expect(ready).toMatchObject({ ok: true, value: { binding: { vlan: 42 } } });
});

test.each([
  ["definition", "shop/cheap", "neutron"],
  ["provider", "networks/backend", "noop"],
])("a port that was made for another %s is refused: the selection was changed after it", async (_, definition, provider) => {
  const ready = await readyPort(apiOf(definition, provider), "shop", "u1-0", use);
  expect(ready).toMatchObject({ ok: false, fault: { kind: "EXTERNAL_PORT_REFUSED" } });
  expect(ready.ok ? "" : ready.fault.msg).toContain(`made for definition "${definition}" with provider "${provider}"`);
});

test.each([
  ["definition", "shop/cheap", "neutron", "u1"],
  ["provider", "networks/backend", "noop", "u1"],
  ["pod", "networks/backend", "neutron", "u2"],
])(
  "a pending port of this name that was made for another %s is refused, and not waited for",
  async (_, definition, provider, uid) => {
    const api = apiOf(definition, provider, false, uid);
    let pauses = 0;
    const counting = { ...api, pause: async () => (pauses += 1) > 0 };
    expect(await readyPort(counting, "shop", "u1-0", use)).toMatchObject({ ok: false, fault: { kind: "EXTERNAL_PORT_REFUSED" } });
    expect(pauses).toBe(0);
  },
);
