import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Family } from "../net/ip.ts";
import { readResult } from "../cni/read-result.ts";
import type { CniResult } from "../cni/result.ts";
import {
  type DefaultRoutePlan,
  type InstalledRoute,
  linksOf,
  planDefaultRoutes,
  type RoutedAttachment,
  wantsDefaultRoute,
} from "./default-route.ts";

const eth0: RoutedAttachment = { source: "default", links: ["eth0"], gateways: undefined };
const net1: RoutedAttachment = { source: "shop/a", links: ["net1"], gateways: undefined };
const net2: RoutedAttachment = { source: "shop/b", links: ["net2"], gateways: undefined };
const asking = (gateways: readonly string[], from: RoutedAttachment = net1): RoutedAttachment => ({ ...from, gateways });

const v4: InstalledRoute = { family: 4, dst: undefined, gateway: "10.0.0.1", ifname: "eth0" };
const v6: InstalledRoute = { family: 6, dst: undefined, gateway: "fd00::1", ifname: "eth0", metric: 1024 };

function plan(attachments: readonly RoutedAttachment[], installed: readonly InstalledRoute[]): DefaultRoutePlan {
  const planned = planDefaultRoutes(attachments, installed);
  if (!planned.ok) throw new Error(planned.fault.msg);
  return planned.value;
}

function result(text: string): CniResult {
  const read = readResult(text, "1.0.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.result;
}

const cleared = (planned: DefaultRoutePlan): readonly (readonly Family[])[] =>
  planned.results.map((each) => [...each.cleared].toSorted());

describe("default routes", () => {
  test("N11-17: without the key no route is read or changed", () => {
    expect(wantsDefaultRoute([eth0, net1])).toBe(false);
    expect(plan([eth0, net1], [v4, v6])).toMatchObject({ remove: [], add: [] });
    expect(cleared(plan([eth0, net1], [v4, v6]))).toEqual([[], []]);
  });

  test("N11-14: a gateway of one family changes only this family's route", () => {
    const planned = plan([eth0, asking(["10.1.0.1"]), net2], [v4, v6]);
    expect(planned.remove).toEqual([v4]);
    expect(planned.add).toEqual([{ family: 4, gateway: "10.1.0.1", ifname: "net1", metric: 0 }]);
    expect(cleared(planned)).toEqual([[4], [], [4]]);
    expect([...(planned.results[1]?.replaced.keys() ?? [])]).toEqual([4]);
  });

  test("N11-14: gateways of IPv6 only, and of both families, work likewise", () => {
    const six = plan([eth0, asking(["fd01::1"])], [v4, v6]);
    expect([six.remove, six.add]).toEqual([[v6], [{ family: 6, gateway: "fd01::1", ifname: "net1", metric: 1024 }]]);
    const both = plan([eth0, asking(["10.1.0.1", "fd01::1"])], [v4, v6]);
    expect(both.remove).toEqual([v4, v6]);
    expect(both.add.map(({ family, gateway, metric }) => [family, gateway, metric])).toEqual([
      [4, "10.1.0.1", 0],
      [6, "fd01::1", 1024],
    ]);
  });

  test("N11-14: an empty list keeps the chosen attachment's routes and removes the others'", () => {
    const chosenRoute: InstalledRoute = { family: 4, dst: "0.0.0.0/0", gateway: "10.1.0.1", ifname: "net1", metric: 50 };
    const third: InstalledRoute = { family: 6, dst: "::/0", ifname: "net2" };
    const planned = plan([eth0, asking([]), net2], [v4, v6, chosenRoute, third]);
    expect([planned.remove, planned.add]).toEqual([[v4, v6, third], []]);
    expect([cleared(planned), planned.results[1]?.replaced.size]).toEqual([[[4, 6], [], [4, 6]], 0]);
  });

  test.each<readonly [string, InstalledRoute]>([
    ["written as 0.0.0.0/0", { ...v4, dst: "0.0.0.0/0" }],
    ["without a gateway", { family: 4, dst: undefined, ifname: "eth0" }],
    ["that is on-link", { ...v4, gateway: "169.254.1.1", onlink: true }],
    ["with a metric", { ...v4, metric: 4096 }],
    ["with the main table's number", { ...v4, table: 254 }],
    [
      "over several links",
      { family: 4, dst: undefined, nexthops: [{ ifname: "eth0" }, { gateway: "10.2.0.1", ifname: "net2" }] },
    ],
  ])("N11-14: a default route %s is removed, too", (_, route) => {
    expect(plan([eth0, asking(["10.1.0.1"]), net2], [route]).remove).toEqual([route]);
    expect(plan([eth0, asking([]), net2], [route]).remove).toEqual([route]);
  });

  test.each<readonly [string, InstalledRoute]>([
    ["to another destination", { family: 4, dst: "10.0.0.0/8", gateway: "10.0.0.1", ifname: "eth0" }],
    ["of another table", { ...v4, table: 100 }],
    ["of a link of no attachment", { ...v4, ifname: "wg0" }],
    ["without a link", { family: 4, dst: undefined }],
    ["of the other family", v6],
  ])("N11-14: a route %s stays", (_, route) => {
    expect(plan([eth0, asking(["10.1.0.1"])], [route]).remove).toEqual([]);
  });

  test("N11-14: the chosen attachment's next hops of a multipath route stay", () => {
    const mixed: InstalledRoute = {
      family: 4,
      dst: undefined,
      nexthops: [
        { gateway: "10.0.0.1", ifname: "eth0" },
        { gateway: "10.1.0.1", ifname: "net1" },
      ],
    };
    const planned = plan([eth0, asking([])], [mixed]);
    expect(planned.remove).toEqual([mixed]);
    expect(planned.add).toEqual([{ family: 4, gateway: "10.1.0.1", ifname: "net1", metric: 0 }]);
  });

  test("N11-14: the requested gateways replace the chosen attachment's other gateways", () => {
    const chosenRoute: InstalledRoute = { family: 4, dst: undefined, gateway: "10.1.0.254", ifname: "net1" };
    const planned = plan([eth0, asking(["10.1.0.1"])], [v4, chosenRoute]);
    expect(planned.remove).toEqual([v4, chosenRoute]);
    expect(planned.add).toHaveLength(1);
  });

  test("N11-14: a correct route is neither removed nor added again", () => {
    const chosenRoute: InstalledRoute = { family: 6, dst: "::/0", gateway: "FD01:0::1", ifname: "net1", metric: 1024 };
    const planned = plan([eth0, asking(["fd01::1"])], [v6, chosenRoute]);
    expect([planned.remove, planned.add]).toEqual([[v6], []]);
  });

  test("N11-14: the default network itself may be chosen", () => {
    const chosenRoute: InstalledRoute = { family: 4, dst: undefined, gateway: "10.1.0.1", ifname: "net1" };
    const planned = plan([asking(["10.0.0.9"], eth0), net1], [v4, chosenRoute]);
    expect([planned.remove, planned.add.map(({ gateway }) => gateway)]).toEqual([[v4, chosenRoute], ["10.0.0.9"]]);
    expect(cleared(planned)).toEqual([[], [4]]);
  });

  test("N11-15: metrics rise in the order of the gateways, from the kernel's default metric of the family", () => {
    const planned = plan([eth0, asking(["10.1.0.2", "fd01::2", "10.1.0.1", "fd01::1", "10.1.0.2"])], []);
    expect(planned.add.map(({ gateway, metric }) => [gateway, metric])).toEqual([
      ["10.1.0.2", 0],
      ["10.1.0.1", 1],
      ["fd01::2", 1024],
      ["fd01::1", 1025],
    ]);
  });

  test("N11-13, D-08: each family may have only one attachment", () => {
    const split = plan([eth0, asking(["10.1.0.1"]), asking(["fd02::1"], net2)], [v4, v6]);
    expect(split.add.map(({ ifname }) => ifname)).toEqual(["net1", "net2"]);
    expect(cleared(split)).toEqual([[4, 6], [6], [4]]);
    const rivals = planDefaultRoutes([asking([], eth0), asking(["fd02::1"], net2)], []);
    expect(rivals).toMatchObject({
      ok: false,
      fault: { kind: "SELECTION_INVALID", msg: expect.stringMatching(/default.*shop\/b.*IPv6/) },
    });
  });

  test("A-14: without a default route, only the requested route is added", () => {
    expect(plan([eth0, asking(["10.1.0.1"])], [])).toMatchObject({ remove: [], add: [{ gateway: "10.1.0.1" }] });
    expect(plan([eth0, asking([])], [])).toMatchObject({ remove: [], add: [] });
  });

  test("A-14: a renamed interface has the result's name; without one in the result, CNI_IFNAME", () => {
    const renamed = result('{"interfaces":[{"name":"veth1"},{"name":"wan0","sandbox":"/n"},{"name":"wan1","sandbox":"/n"}]}');
    expect(linksOf(renamed, "net1")).toEqual(["wan0", "wan1"]);
    expect(linksOf(result("{}"), "net1")).toEqual(["net1"]);
    // CNI_IFNAME's link gets the route, whatever other links the network has in the pod.
    const several = [
      { name: "dummy0", sandbox: "/n" },
      { name: "", sandbox: "/n" },
      { name: "net1", sandbox: "/n" },
    ];
    expect(linksOf(result(JSON.stringify({ interfaces: several })), "net1")).toEqual(["net1", "dummy0"]);
    expect(linksOf(result('{"interfaces":[{"sandbox":"/n"}]}'), "net1")).toEqual(["net1"]);
    const chosenRoute: InstalledRoute = { ...v4, ifname: "wan1" };
    const planned = plan([eth0, { source: "a", links: linksOf(renamed, "net1"), gateways: ["10.1.0.1"] }], [chosenRoute]);
    expect([planned.remove, planned.add]).toMatchObject([[chosenRoute], [{ ifname: "wan0" }]]);
  });

  test("A-14: of two routes with the same gateway, only the chosen attachment's stays", () => {
    const shared = { family: 6, dst: undefined, gateway: "fe80::1", metric: 1024 } as const;
    const [first, second] = [
      { ...shared, ifname: "eth0" },
      { ...shared, ifname: "net1" },
    ];
    const planned = plan([eth0, asking(["fe80::1"])], [first, second]);
    expect([planned.remove, planned.add]).toEqual([[first], []]);
  });

  test("A-14: an on-link gateway stays on-link when its metric changes", () => {
    const chosenRoute: InstalledRoute = {
      family: 4,
      dst: undefined,
      gateway: "169.254.1.1",
      ifname: "net1",
      metric: 7,
      onlink: true,
    };
    const planned = plan([eth0, asking(["169.254.1.1"])], [chosenRoute]);
    expect([planned.remove, planned.add]).toMatchObject([[chosenRoute], [{ gateway: "169.254.1.1", onlink: true, metric: 0 }]]);
  });

  test("N11-14: for any installed routes, each requested family finally leads only over the chosen attachment", () => {
    const route = fc.record({
      family: fc.constantFrom<Family>(4, 6),
      dst: fc.constantFrom(undefined, "0.0.0.0/0", "::/0", "10.0.0.0/8"),
      gateway: fc.constantFrom(undefined, "10.1.0.1", "fd01::1"),
      ifname: fc.constantFrom("eth0", "net1", "net2"),
      metric: fc.constantFrom(undefined, 0, 1, 1024),
    });
    const gateways = fc.subarray(["10.1.0.1", "10.1.0.2", "fd01::1", "fd01::2"]);
    fc.assert(
      fc.property(fc.array(route, { maxLength: 8 }), gateways, (installed, asked) => {
        const planned = plan([eth0, asking(asked), net2], installed);
        const rest = installed.filter((each) => !planned.remove.includes(each));
        for (const family of [4, 6] as const) {
          const everywhere = family === 4 ? "0.0.0.0/0" : "::/0";
          const touched = asked.length === 0 || asked.some((each) => each.includes(":") === (family === 6));
          const defaults = rest.filter((each) => each.family === family && (each.dst === undefined || each.dst === everywhere));
          expect(defaults.every(({ ifname }) => ifname === "net1") || !touched).toBe(true);
          expect(touched || !planned.remove.some((each) => each.family === family)).toBe(true);
        }
        expect(planned.remove.some(({ dst }) => dst === "10.0.0.0/8")).toBe(false);
      }),
    );
  });
});
