import { expect, test } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { placedPool } from "./placed-pool.ts";

function placed(plugin: object): unknown {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins: [plugin, { type: "tuning" }] }));
  if (!list.ok) throw new Error(list.fault.msg);
  const answer = placedPool(list.value, "storage", "claim");
  return answer.ok ? JSON.parse(answer.value.text).plugins : answer.fault.msg;
}

test("DR-13: the first plugin's IPAM component gets the claimed pool, where the list leaves it open", () => {
  const ipam = { type: "ipam-host-local", routes: [] };
  const whole = { type: "macvlan", ipam: { ...ipam, pool: "storage" } };
  expect(placed({ type: "macvlan", ipam })).toEqual([whole, { type: "tuning" }]);
  expect(placed(whole)).toEqual([whole, { type: "tuning" }]);
});

test.each<[string, object, string]>([
  ["another pool", { ipam: { type: "ipam-host-local", pool: "other" } }, 'plugins[0].ipam.pool is "other" already'],
  ["no IPAM", {}, "plugins[0] has no ipam"],
  ["another spelling", { IPAM: { type: "ipam-host-local" } }, 'plugins[0]."IPAM" must be written as ipam'],
])("DR-13: a list with %s is refused, so that no pod starts with an address of another place", (_, more, message) => {
  expect(placed({ type: "macvlan", ...more })).toContain(message);
});
