import { expect, test } from "vitest";
import { defaultWasm } from "../../../src/configuration/wasm-configuration.ts";
import { temporaryNestedCallDirectory } from "../call/plugin-finder.ts";
import { bareConfiguration, nestedChain } from "./component-call.ts";

test("the configuration of a direct call has the defaults", () => {
  expect(bareConfiguration()).toMatchObject({ wasm: defaultWasm, stepTimeoutMs: 60_000, goMaxProcs: 1 });
});

// The chain that a nested call belongs to: its definition decides what the called component may do.
const shop = { namespace: "shop", name: "storage" };
const chains = [
  { network: "pods", ifname: "eth0" },
  { network: "shop.storage", ifname: "net1", definition: shop },
];

test.each([
  ["its network and interface", "shop.storage", "net1", shop],
  ["its network, if the plugin uses another interface name", "shop.storage", "bond0", shop],
  ["the administrator's network", "pods", "eth0", undefined],
] as const)("A nested call gets the definition of %s", (_what, network, ifname, definition) => {
  const chain = nestedChain(chains, network, ifname);
  expect(chain.ok && [chain.value.network, chain.value.ifname, chain.value.definition]).toEqual([network, ifname, definition]);
});

test.each(["storage", "other"])("A nested call for a network that no chain has is refused: %s", (network) => {
  expect(nestedChain(chains, network, "net1")).toMatchObject({
    ok: false,
    fault: { kind: "NESTED_CALL_UNKNOWN", code: 7, msg: expect.stringContaining(`"${network}"`) },
  });
});

test("A nested call of a GC belongs to the chain that runs now, although an earlier one had the same network and interface", () => {
  const [first, second] = [{ namespace: "shop", name: "one" }, shop].map((definition) => {
    return { network: "shop.storage", ifname: "net1", definition };
  });
  const chain = nestedChain(
    [first, second].filter((each) => each !== undefined),
    "shop.storage",
    "net1",
  );
  expect(chain.ok && chain.value.definition).toEqual(shop);
});

test("A VERSION request, which names no network, is answered", () => {
  expect(nestedChain([], "", "")).toEqual({ ok: true, value: { network: "", ifname: "" } });
});

test("Each call without a container has a nested-call directory of its own", () => {
  expect(temporaryNestedCallDirectory()).not.toBe(temporaryNestedCallDirectory());
});
