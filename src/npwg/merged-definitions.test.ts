import { describe, expect, test } from "vitest";
import { parseNetworkList } from "../cni/network-list.ts";
import { mergeParameters, type Parameter } from "./merged-definitions.ts";

function parameter(source: string, plugins: readonly object[]): Parameter {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: source.split("/")[1], plugins }), source);
  if (!list.ok) throw new Error(list.fault.msg);
  return { source, list: list.value };
}

const chain = parameter("shop/chain", [
  { type: "bridge", bridge: "br0", ipam: { type: "host-local", subnet: "10.1.0.0/24" } },
  { type: "tuning", sysctl: { "net.core.somaxconn": "4096" } },
]);

describe("KE-60: several parameters of one network", () => {
  test("the first one is the chain, and further ones add keys to its plugins", () => {
    const further = parameter("shop/more", [
      { type: "tuning", mtu: 1400, sysctl: { "net.ipv4.ip_forward": "1" } },
      { type: "bridge", ipam: { type: "host-local", routes: [] } },
    ]);
    const merged = mergeParameters([chain, further]);
    if (!merged.ok) throw new Error(merged.fault.msg);
    expect(merged.value.name).toBe("chain");
    expect(merged.value.plugins.map(({ document }) => document.parsed)).toEqual([
      { type: "bridge", bridge: "br0", ipam: { type: "host-local", subnet: "10.1.0.0/24", routes: [] } },
      { type: "tuning", sysctl: { "net.core.somaxconn": "4096", "net.ipv4.ip_forward": "1" }, mtu: 1400 },
    ]);
  });

  test("one that says the same again changes nothing", () => {
    const merged = mergeParameters([chain, parameter("shop/same", [{ type: "bridge", bridge: "br0" }])]);
    expect(merged).toMatchObject({ ok: true, value: { plugins: chain.list.plugins.map(({ type }) => ({ type })) } });
  });

  test("two that contradict each other are refused with both names and the key", () => {
    const one = parameter("shop/one", [{ type: "tuning", mtu: 1400 }]);
    const other = parameter("shop/other", [{ type: "tuning", mtu: 9000 }]);
    expect(mergeParameters([chain, one, other])).toMatchObject({
      ok: false,
      fault: { msg: 'shop/one and shop/other contradict each other in plugins[1].mtu: "1400" and "9000"' },
    });
    expect(mergeParameters([chain, parameter("shop/br1", [{ type: "bridge", bridge: "br1" }])])).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("shop/chain and shop/br1 contradict each other in plugins[0].bridge") },
    });
  });

  test("one for a plugin that the chain lacks is refused with the chain's plugins", () => {
    expect(mergeParameters([chain, parameter("shop/x", [{ type: "sbr" }])])).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("which is not in the chain of shop/chain (bridge, tuning)") },
    });
  });

  test("numbers beyond 2^53 and unknown keys keep their text", () => {
    const text = '{"cniVersion":"1.0.0","name":"big","plugins":[{"type":"tuning","serial":12345678901234567890}]}';
    const list = parseNetworkList(text, "big");
    if (!list.ok) throw new Error(list.fault.msg);
    const merged = mergeParameters([{ source: "a/big", list: list.value }, parameter("a/x", [{ type: "tuning", mtu: 1 }])]);
    expect(merged.ok && merged.value.text).toContain('"serial":12345678901234567890');
  });
});
