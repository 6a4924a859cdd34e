import { expect, test } from "vitest";
import { allowedAcceptance, type FilterCall } from "./requests.ts";

const call = (...addresses: readonly string[]): FilterCall => ({
  type: "firewall",
  verb: "ADD",
  attachment: { containerId: "one", ifname: "net1" },
  grant: {},
  facts: { addresses },
});
const acceptance = (...addresses: readonly string[]) => ({
  addresses,
  adminChain: "CNI-ADMIN",
  ingress: "open" as const,
  bridge: undefined,
});

// The chain of accepted addresses is one list of rules for all pods of the node.
test("accepts each address once, and no more than 64", () => {
  const again = allowedAcceptance(
    call("10.0.0.5/24", "fd00::5/64"),
    acceptance("10.0.0.5", "10.0.0.5/24", "fd00::5", "FD00:0::5"),
  );
  expect(again).toMatchObject({ ok: true, value: { addresses: [{ family: 4 }, { family: 6 }] } });
  const many = Array.from({ length: 65 }, (_, index) => `10.0.0.${index + 1}`);
  expect(allowedAcceptance(call(...many), acceptance(...many))).toMatchObject({
    ok: false,
    fault: { msg: "filter: 65 addresses; the maximum is 64" },
  });
  expect(allowedAcceptance(call(...many), acceptance(...many.slice(1)))).toMatchObject({ ok: true });
});

/** The zone of an acceptance, or the fault's message. */
function zoneOf(zones: readonly string[] | undefined, zone?: string): unknown {
  const allowed = allowedAcceptance({ ...call("10.0.0.5"), grant: { zones } }, { ...acceptance("10.0.0.5"), zone });
  return allowed.ok ? allowed.value.zone : allowed.fault.msg;
}

test("a zone of firewalld is the requested one, or the first that the grant names; another one is refused", () => {
  expect([zoneOf(undefined), zoneOf(["pods-*", "trusted"]), zoneOf(["pods-*"])]).toEqual([undefined, "trusted", undefined]);
  expect([zoneOf(["trusted"], ""), zoneOf(["pods-*"], "pods-1")]).toEqual([undefined, "pods-1"]);
  expect(zoneOf(["trusted"], "public")).toContain("filter.zones");
  expect(zoneOf(undefined, "trusted")).toContain("filter.zones");
  expect(zoneOf(["*"], "pods-*")).toContain("is not the name of a zone");
});
