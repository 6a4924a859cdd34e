import { expect, test } from "vitest";
import { keepAddresses } from "./kept-addresses.ts";
import { parseNetworkList } from "./network-list.ts";
import { readResult } from "./read-result.ts";

const printed = {
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "0.0.0.0/0", gw: "10.0.0.9", table: 100 }, { dst: "10.1.0.0/16" }],
};

/** `ipam` of the list's plugin, which has these members besides. */
function keptIpam(more: object): unknown {
  const plugin = { type: "bridge", ipam: { type: "host-local" }, ...more };
  const list = parseNetworkList(JSON.stringify({ name: "n", cniVersion: "1.1.0", plugins: [plugin] }));
  const result = readResult(JSON.stringify(printed), "1.1.0");
  if (!list.ok || !result.ok) throw new Error("list or result is invalid");
  const kept = keepAddresses(list.value, result.value.result);
  return kept.ok ? Object(kept.value.plugins[0]?.document.parsed)["ipam"] : kept.fault.msg;
}

test("the addresses and routes of a result are those of static", () => {
  expect(keptIpam({})).toEqual({ type: "static", addresses: printed.ips, routes: printed.routes });
});

test("a plugin with isDefaultGateway adds the default route of the main table itself, and no other", () => {
  expect(keptIpam({ isDefaultGateway: true })).toMatchObject({ routes: printed.routes.slice(1) });
});
