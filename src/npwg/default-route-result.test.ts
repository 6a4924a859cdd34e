import { describe, expect, test } from "vitest";
import type { Family } from "../net/ip.ts";
import { readResult } from "../cni/read-result.ts";
import type { CniVersion } from "../cni/versions.ts";
import type { NewRoute } from "./default-route.ts";
import { withDefaultRoutes } from "./default-route-result.ts";

const none = new Map<Family, readonly NewRoute[]>();
const routesTo = (family: Family, ...gateways: readonly string[]): readonly NewRoute[] =>
  gateways.map((gateway, index) => ({ family, gateway, ifname: "net1", metric: index }));

function edited(text: string, cleared: readonly Family[], replaced = none, version: CniVersion = "1.0.0"): string {
  const read = readResult(text, version);
  if (!read.ok) throw new Error(read.fault.msg);
  const result = withDefaultRoutes(read.value, { cleared: new Set(cleared), replaced });
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value.text;
}

const dual =
  '{"cniVersion":"1.0.0","x":9007199254740993,"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","y":1e400},{"address":"fd00::2/64","gateway":"fd00::1"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0"},{"dst":"10.0.0.0/8","z":1}]}';

describe("a result after the default routes were settled", () => {
  test("N11-14: loses only the default routes and gateways of the cleared families", () => {
    expect(edited(dual, [4])).toBe(dual.replace('"gateway":"10.0.0.1",', "").replace('{"dst":"0.0.0.0/0","gw":"10.0.0.1"},', ""));
    expect(JSON.parse(edited(dual, [4, 6]))).toMatchObject({
      ips: [{ address: "10.0.0.2/24" }, { address: "fd00::2/64" }],
      routes: [{ dst: "10.0.0.0/8", z: 1 }],
    });
    expect(edited(dual, [4, 6])).not.toContain("gateway");
  });

  test("N11-14: keeps the default routes of tables other than the main one, which stay in the pod", () => {
    const policy = '{"dst":"0.0.0.0/0","gw":"10.0.0.1","table":100}';
    const main = '{"dst":"0.0.0.0/0","gw":"10.0.0.1","table":254},{"dst":"0.0.0.0/0","table":0},{"dst":"0.0.0.0/0","table":null}';
    const result = '{"cniVersion":"1.1.0","routes":[ROUTES]}';
    expect(edited(result.replace("ROUTES", `${main},${policy}`), [4], none, "1.1.0")).toBe(result.replace("ROUTES", policy));
  });

  test("N11-14: stays unchanged byte for byte without a change", () => {
    expect(edited(dual, [])).toBe(dual);
    expect(edited('{"cniVersion":"1.0.0"}', [4, 6])).toBe('{"cniVersion":"1.0.0"}');
    expect(edited('{"cniVersion":"1.0.0","ips":[]}', [4])).toBe('{"cniVersion":"1.0.0","ips":[]}');
  });

  test("N11-14, N11-15: of the chosen attachment has the requested gateways, with metrics if the version has the field", () => {
    const replaced = new Map([[4 as const, routesTo(4, "10.0.0.7", "10.0.0.8")]]);
    expect(JSON.parse(edited(dual, [], replaced))).toMatchObject({
      ips: [{ gateway: "10.0.0.1" }, { gateway: "fd00::1" }],
      routes: [
        { dst: "::/0" },
        { dst: "10.0.0.0/8" },
        { dst: "0.0.0.0/0", gw: "10.0.0.7" },
        { dst: "0.0.0.0/0", gw: "10.0.0.8" },
      ],
    });
    const newest = edited('{"cniVersion":"1.1.0"}', [], replaced);
    expect(JSON.parse(newest)).toEqual({
      cniVersion: "1.1.0",
      routes: [
        { dst: "0.0.0.0/0", gw: "10.0.0.7" },
        { dst: "0.0.0.0/0", gw: "10.0.0.8", priority: 1 },
      ],
    });
  });

  test("N11-14: of 0.2.0 changes likewise, in ip4 and ip6", () => {
    const old =
      '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","gateway":"10.0.0.1","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"fd00::2/64","gateway":"fd00::1"}}';
    expect(edited(old, [4], none, "0.2.0")).toBe(
      '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"},"ip6":{"ip":"fd00::2/64","gateway":"fd00::1"}}',
    );
    const six = new Map([[6 as const, routesTo(6, "fd00::7")]]);
    expect(edited(old, [], six, "0.2.0")).toBe(old.replace('"fd00::1"}', '"fd00::1","routes":[{"dst":"::/0","gw":"fd00::7"}]}'));
    expect(edited('{"cniVersion":"0.2.0"}', [], six, "0.2.0")).toBe('{"cniVersion":"0.2.0"}');
  });

  test.each(['"routes":null,"ips":null', '"routes":[],"ips":[]'])("A-14: a result with %s is accepted", (members) => {
    expect(JSON.parse(edited(`{"cniVersion":"1.0.0",${members}}`, [4, 6]))).toMatchObject({ cniVersion: "1.0.0" });
  });
});
