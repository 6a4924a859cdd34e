import { expect, test } from "vitest";
import { externalPortObject } from "./rules/wanted-ports.ts";
import { ok } from "../../src/fault/result.ts";
import type { ClusterApi } from "../../host/cluster/object-source.ts";
import { readyPort } from "./ready-port.ts";

const use = { podUid: "u1", definition: "networks/backend", provider: "neutron" };

/** An API whose only ExternalPort is ready and was made for this use. */
function apiOf(definition: string, provider: string): ClusterApi {
  const [namespace = "", name = ""] = definition.split("/");
  const made = { podName: "web", podUid: "u1", nodeName: "n", index: 0, parameters: "{}", requested: {} };
  const object = externalPortObject("shop", { ...made, definition: { namespace, name }, provider });
  const metadata = { ...(object["metadata"] as object), uid: "x", resourceVersion: "1" };
  const conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "" }];
  const binding = { type: "vlan", vlan: 42 };
  const status = { providerId: "p", mac: "02:00:00:00:00:07", addresses: [], binding, conditions };
  const body = JSON.stringify({ ...object, metadata, status });
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
