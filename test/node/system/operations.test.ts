// Operations in the kernel, in private namespaces; ip(8) shows their effect.

import { execFileSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../lab/namespaces.ts";
import { missing } from "../../lab/requires.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { Result } from "../../../src/fault/result.ts";
import { type EngineSide, callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";
import { addDefaultRoute, deleteRoute, listLinks, listRoutes } from "../../../host/system/netlink/operations.ts";
import type { Link } from "../../../host/system/netlink/link.ts";
import { decodeAnswers, encodeRequests } from "../../../host/system/netlink/message.ts";
import { type DefaultRoute, type Route, routeRestoration } from "../../../host/system/netlink/route.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function linesOf(text: string): string[] {
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim());
}

const address = (text: string): DefaultRoute["gateway"] => {
  const read = readAddress(text);
  if (read === undefined) throw new Error(`${text} is not an address`);
  return read;
};

/** Runs operations with the real shim. */
async function act<T>(script: (engine: EngineSide) => Promise<T>): Promise<T> {
  const results: T[] = [];
  await callWith(async (engine) => void results.push(await script(engine)), { shim: shop.shim });
  const [result] = results;
  if (result === undefined) throw new Error("the script did not end");
  return result;
}

describe.skipIf(missing("netlink", missingPrivateNamespaces))("in a pod's namespace", () => {
  let pod: PodNamespace;

  /** Restores a deleted route as the undo of `links` does. */
  async function restore(route: Route): Promise<void> {
    const request = encodeRequests([routeRestoration(route)]);
    const { reply } = await act((engine) => engine.netlink({ path: pod.path, request, deadlineMs: 60_000 }));
    expect(decodeAnswers(reply, 1)).toMatchObject([{ errno: 0 }]);
  }

  beforeEach(() => {
    pod = createPodNamespace("netlink");
    ip("link add eth0 type veth peer name peer0");
    ip("link add br0 type bridge");
    ip("link set eth0 mtu 1400 address 02:00:00:00:00:07");
    for (const link of ["eth0", "peer0", "lo"]) ip(`link set ${link} up`);
    ip("address add 10.9.0.2/24 dev eth0");
    ip("address add fd09::2/64 dev eth0 nodad");
  });
  afterEach(() => pod.dispose());

  function ip(args: string): string {
    const { status, stdout, stderr } = pod.exec(["ip", ...args.split(" ")] as [string, ...string[]]);
    if (status !== 0) throw new Error(`ip ${args}: ${stderr}`);
    return stdout;
  }

  /** The JSON output of ip(8). */
  function ipJson(args: string): Record<string, unknown>[] {
    const value: unknown = JSON.parse(ip(`-j -N -d ${args}`) || "[]");
    if (!Array.isArray(value)) throw new Error(`ip -j ${args} printed no list`);
    return value.filter((each) => Object.keys(each).length > 0);
  }

  const links = (): Promise<readonly Link[]> => act(async (engine) => valueOf(await listLinks(engine, pod.path)));
  const routes = (): Promise<readonly Route[]> => act(async (engine) => valueOf(await listRoutes(engine, pod.path)));
  const add = (route: DefaultRoute): Promise<Result<void>> => act((engine) => addDefaultRoute(engine, pod.path, route, "eth0"));
  const eth0 = async (): Promise<number> => (await links()).find(({ name }) => name === "eth0")?.index ?? 0;

  test("lists the same links as ip(8), with index, address, MTU, state and kind", async () => {
    const expected = ipJson("link show").map((link) => ({
      index: link["ifindex"],
      name: link["ifname"],
      mac: link["address"],
      mtu: link["mtu"],
      up: Array.isArray(link["flags"]) && link["flags"].includes("UP"),
      kind: (link["linkinfo"] as { info_kind?: string } | undefined)?.info_kind ?? "",
    }));
    const found = await links();
    expect(found).toEqual(expected);
    expect(found.find(({ name }) => name === "eth0")).toMatchObject({
      mac: "02:00:00:00:00:07",
      mtu: 1400,
      up: true,
      kind: "veth",
    });
    expect(found.find(({ name }) => name === "br0")).toMatchObject({ up: false, kind: "bridge" });
  });

  test("lists the host's links for the empty path", async () => {
    const found = await act(async (engine) => valueOf(await listLinks(engine, "")));
    const expected: { ifname: string; ifindex: number }[] = JSON.parse(execFileSync("ip", ["-j", "link"], { encoding: "utf8" }));
    expect(found.map(({ name, index }) => [name, index])).toEqual(expected.map(({ ifname, ifindex }) => [ifname, ifindex]));
    expect(found.map(({ name }) => name)).not.toContain("br0");
  });

  const several = [
    "route add default via 10.9.0.1",
    "route add default via 10.9.0.3 metric 100",
    "route add default dev eth0 metric 200",
    "route add default via 192.0.2.1 dev eth0 onlink metric 300",
    "route add default via inet6 fd09::1 dev eth0 metric 400",
    "route add default metric 500 nexthop via 10.9.0.4 weight 2 nexthop via 10.9.0.5",
    "route add 10.20.0.0/16 via 10.9.0.6 src 10.9.0.2 mtu 1300",
    "route add unreachable 10.30.0.0/16",
    "route add 10.40.0.0/16 via 10.9.0.1 table 77",
    "-6 route add default via fd09::1",
    "-6 route add default via fd09::3 metric 100",
    "-6 route add default metric 300 nexthop via fd09::4 nexthop via fd09::5",
    "-6 route add fd20::/48 via fe80::1 dev eth0",
    "-6 route add blackhole fd30::/48",
  ];

  test("lists the same routes of the main table as ip(8)", async () => {
    for (const route of several) ip(route);
    const found = await routes();
    const names = new Map((await links()).map(({ index, name }) => [index, name]));
    for (const family of [4, 6] as const) {
      const everything = family === 4 ? "0.0.0.0/0" : "::/0";
      const bits = family === 4 ? 32 : 128;
      const expected = ipJson(`-${family} route show`).map((route) => ({
        dst:
          route["dst"] === "default"
            ? everything
            : String(route["dst"]).includes("/")
              ? route["dst"]
              : `${String(route["dst"])}/${bits}`,
        gateway: route["gateway"],
        dev: route["dev"],
        via: (route["via"] as { host?: string } | undefined)?.host,
        metric: route["metric"] ?? 0,
        multipath: route["nexthops"] !== undefined,
        prefsrc: route["prefsrc"],
        protocol: Number(route["protocol"]),
        onlink: Array.isArray(route["flags"]) && route["flags"].includes("onlink"),
      }));
      const ofFamily = found.filter((route) => route.family === family);
      const compared = ofFamily.map(({ dst, gateway, via, metric, multipath, prefsrc, protocol, onlink, oif = 0 }) => {
        return { dst, gateway, dev: names.get(oif), via, metric, multipath, prefsrc, protocol, onlink };
      });
      expect(compared).toEqual(expected);
      expect(new Set(ofFamily.map(({ table }) => table))).toEqual(new Set([254]));
    }
  });

  test.each([4, 6] as const)("each IPv%i route can be deleted alone, and restored as before", async (family) => {
    for (const route of several) ip(route);
    const shown = (): string[] => linesOf(ip(`-d -${family} route show`)).toSorted();
    // A multipath route takes two more lines.
    const before = shown();
    for (const route of (await routes()).filter((each) => each.family === family)) {
      valueOf(await act((engine) => deleteRoute(engine, pod.path, route)));
      const after = shown();
      expect([route.dst, before.length - after.length]).toEqual([route.dst, route.multipath ? 3 : 1]);
      expect(before).toEqual(expect.arrayContaining(after));
      await restore(route);
      expect(shown()).toEqual(before);
    }
  });

  test("a route over a next hop object can be deleted and restored", async () => {
    ip("nexthop add id 5 via 10.9.0.1 dev eth0");
    ip("route add 10.50.0.0/16 nhid 5");
    const before = ip("route show");
    const route = (await routes()).find(({ dst }) => dst === "10.50.0.0/16");
    if (route === undefined) throw new Error("the route does not exist");
    valueOf(await act((engine) => deleteRoute(engine, pod.path, route)));
    expect(ip("route show")).not.toContain("10.50.0.0");
    await restore(route);
    expect(ip("route show")).toBe(before);
  });

  test("default routes are added by gateway, link, metric, on the link, and over a gateway of the other family", async () => {
    const oif = await eth0();
    valueOf(await add({ family: 4, gateway: address("10.9.0.1"), oif: undefined }));
    valueOf(await add({ family: 4, gateway: address("10.9.0.1"), oif, metric: 10 }));
    valueOf(await add({ family: 4, gateway: undefined, oif, metric: 20 }));
    valueOf(await add({ family: 4, gateway: address("192.0.2.1"), oif, metric: 30, onlink: true }));
    valueOf(await add({ family: 4, gateway: address("fd09::1"), oif, metric: 40 }));
    valueOf(await add({ family: 6, gateway: address("fd09::1"), oif }));
    valueOf(await add({ family: 6, gateway: address("fe80::1"), oif, metric: 10 }));
    valueOf(await add({ family: 6, gateway: undefined, oif, metric: 20 }));
    const noise = / proto static| pref medium/gu;
    const lines = (family: 4 | 6): string[] =>
      linesOf(ip(`-${family} route show default`).replace(noise, "").replace(/ +/gu, " "));
    expect(lines(4)).toEqual([
      "default via 10.9.0.1 dev eth0",
      "default via 10.9.0.1 dev eth0 metric 10",
      "default dev eth0 scope link metric 20",
      "default via 192.0.2.1 dev eth0 metric 30 onlink",
      "default via inet6 fd09::1 dev eth0 metric 40",
    ]);
    expect(lines(6)).toEqual([
      "default via fe80::1 dev eth0 metric 10",
      "default dev eth0 metric 20",
      "default via fd09::1 dev eth0 metric 1024",
    ]);
  });

  test("an error names the operation, the link, the namespace, and the kernel's errno and error text", async () => {
    const oif = await eth0();
    const gateway = address("198.51.100.1");
    const refused = await add({ family: 4, gateway, oif });
    expect(refused).toMatchObject({ ok: false, fault: { kind: "NETLINK_FAILED" } });
    const msg = `adding the route 0.0.0.0/0 via 198.51.100.1 dev eth0 in ${pod.path}: ENETUNREACH, network is unreachable: Nexthop has invalid gateway`;
    expect(refused.ok ? "" : refused.fault.msg).toBe(msg);
    valueOf(await add({ family: 4, gateway: address("10.9.0.1"), oif }));
    const twice = await add({ family: 4, gateway: address("10.9.0.7"), oif });
    expect(twice.ok ? "" : twice.fault.msg).toMatch(/: EEXIST, file already exists$/);
    const [route] = await routes();
    if (route === undefined) throw new Error("no route");
    valueOf(await act((engine) => deleteRoute(engine, pod.path, route)));
    const gone = await act((engine) => deleteRoute(engine, pod.path, route, "eth0"));
    expect(gone.ok ? "" : gone.fault.msg).toMatch(/^deleting the route 0\.0\.0\.0\/0 via 10\.9\.0\.1 dev eth0 in .*: ESRCH/);
  });

  test("lists thousands of routes completely", async () => {
    const batch = Array.from({ length: 5000 }, (_, n) => `route add 10.${100 + (n >> 8)}.${n & 255}.0/24 via 10.9.0.1`);
    execFileSync("ip", ["-n", pod.name, "-batch", "-"], { input: batch.join("\n") });
    expect(await routes()).toHaveLength(ipJson("-4 route show").length + ipJson("-6 route show").length);
  });

  test("an error names a path that is not a namespace", async () => {
    for (const [path, errno] of [
      ["/nonexistent", "ENOENT"],
      ["/etc/passwd", "EINVAL"],
      ["/", "EINVAL"],
    ] as const) {
      const refused = await act((engine) => listLinks(engine, path));
      expect(refused.ok ? "" : refused.fault.msg).toContain(
        `listing the links in ${path}: the shim could not enter the namespace or ask the kernel: ${errno}`,
      );
    }
  });
});
