// Compares the delegate vrf with the reference plugin, each in pods of its own with two interfaces: tables, addresses, routes, CHECK, DEL, refusals.
// `npm run vm -- test/node/conformance/plugins/vrf.test.ts` runs it on Debian's kernel.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newer, newerPlugins } from "../../../lab/newer-plugins.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { codeOf, comparableAnswer, disagreements, type Outcomes, runBoth } from "./run-configurations.ts";
import { type Configuration, kinds, patience, SideBySide } from "./side-by-side.ts";

const vrf = "blue";
const result = (ifname: string): object => ({
  interfaces: [{ name: ifname, mac: "0a:58:0b:00:00:01", sandbox: "NETNS" }],
  ips: [{ version: "4", address: "10.77.0.2/24", gateway: "10.77.0.1", interface: 0 }],
  routes: [{ dst: "172.17.0.0/24", gw: "10.77.0.9" }],
});
const configuration = (name: string, pod: number, step: Readonly<Record<string, unknown>>): Configuration => ({
  name,
  pod,
  ifname: "net1",
  step,
  before: result("net1"),
});

const configurations: readonly Configuration[] = [
  configuration("a free table", 0, { vrfname: vrf }),
  configuration("a table, keys in another case", 1, { VRFName: vrf, Table: 1001 }),
  configuration("a VRF of the pod", 2, { vrfname: vrf }),
  configuration("a VRF of the pod with the configured table", 3, { vrfname: vrf, table: 7 }),
  configuration("refused: a VRF of the pod with another table", 4, { vrfname: vrf, table: 8 }),
  configuration("a free table beside a VRF whose interface is down", 6, { vrfname: vrf }),
  configuration("a VRF of the pod whose interface is down", 7, { vrfname: vrf }),
  configuration("refused: another table than that of a VRF whose interface is down", 8, { vrfname: vrf, table: 8 }),
  configuration("refused: no name", 5, { vrfname: "" }),
  { ...configuration("refused: an interface that the pod lacks", 5, { vrfname: vrf }), ifname: "none0", before: result("none0") },
];
/** Pods with a VRF that has another member, and its table. */
const withVrf = new Set([2, 3, 4, 7, 8]);
/** Pods whose other interface is down, so no route has its VRF's table. Pod 6 has it in another VRF, of the first table. */
const withoutRoutes: ReadonlyMap<number, readonly [vrf: string, table: number]> = new Map([
  [6, ["red", 1]],
  [7, [vrf, 7]],
  [8, [vrf, 7]],
]);
const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");

/** The links of a pod before the first call. */
function podLinks(pod: number): readonly string[] {
  const routeless = withoutRoutes.get(pod);
  const [other, table] = routeless ?? [vrf, 7];
  const links = [
    "link add net1 address 0a:58:0b:00:00:01 type veth peer name net1-e",
    "link add net2 address 0a:58:0b:00:00:02 type veth peer name net2-e",
    ...["net1-e", "net1", "net2-e", "net2"].map((name) => `link set ${name} up`),
    ...(withVrf.has(pod) || routeless !== undefined
      ? [`link add ${other} type vrf table ${table}`, `link set ${other} up`, `link set net2 master ${other}`]
      : []),
    routeless === undefined ? "address add 10.78.0.2/24 dev net2" : "link set net2 down",
    "address add 10.77.0.2/24 dev net1",
    "address add fd00:77::2/64 dev net1",
    "route add 172.17.0.0/24 via 10.77.0.9 dev net1",
    "route add default via 10.77.0.1 dev net1 metric 50",
    "route add fd01::/64 via fd00:77::1 dev net1",
  ];
  return links;
}

const skip = missing(
  "the delegate vrf compared with the reference plugin",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("vrf"),
  newer,
);

describe.skipIf(skip)("DE-VRF-01 to DE-VRF-03: vrf beside the reference plugin", () => {
  let side: SideBySide;
  let outcomes: ReadonlyMap<string, Outcomes>;
  let tables: ReadonlyMap<string, Outcomes>;
  beforeAll(async () => {
    side = await SideBySide.open({
      type: "vrf",
      findNative: (name) => join(newerPlugins() ?? "", name),
      pods: 9,
      settings: [],
      grants: { vrf: { links: { podLinks: [vrf] }, log: {} } },
      lanes: 4,
    });
    const pods = kinds.flatMap((kind) => Array.from({ length: 9 }, (_, pod) => ({ kind, pod })));
    await Promise.all(
      pods.map(({ kind, pod }) =>
        side.lanes.run(
          `nsenter --net=${side.path(kind, pod)} -- sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
ip -n ${side.pod(kind, pod)} -batch - <<'EOF'\n${podLinks(pod).join("\n")}\nEOF`,
        ),
      ),
    );
    outcomes = await runBoth(side, configurations);
    // The same calls once more: an interface may join after its DEL. This time the VRF is looked at.
    tables = await runBoth(
      side,
      configurations.filter((each) => withVrf.has(each.pod) && !isRefused(each)),
      { link: vrf },
    );
  }, patience);
  afterAll(() => side.close(), patience);

  const ofBoth = ({ name }: Configuration): Outcomes => {
    const both = outcomes.get(name);
    if (both === undefined) throw new Error(`${name} was not run`);
    return both;
  };

  test.each(configurations.filter((each) => !isRefused(each)))("has the same effect and result: $name", (each) => {
    const both = ofBoth(each);
    expect(both.native.added).toMatchObject({ status: 0 });
    expect(comparableAnswer(side, each, "wasm", both.wasm.added)).toEqual(
      comparableAnswer(side, each, "native", both.native.added),
    );
    expect(both.wasm.made?.link).toMatchObject({ master: vrf });
    expect(both.wasm.made).toEqual(both.native.made);
    expect(disagreements(both)).toEqual([]);
    expect(both.wasm.left?.link).toMatchObject({ master: undefined });
    expect(both.wasm.left).toEqual(both.native.left);
  });

  test("keeps the VRF of another interface", () => {
    for (const { native, wasm } of tables.values()) {
      expect(wasm.left?.link).toMatchObject({ kind: "vrf", table: 7 });
      expect(native.left?.link).toMatchObject({ kind: "vrf", table: 7 });
    }
  });

  test("removes the VRF with its last interface", async () => {
    const left = await side.links("wasm");
    expect([0, 1].map((pod) => left.has(`${pod} ${vrf}`))).toEqual([false, false]);
  });

  test.each(configurations.filter(isRefused))("refuses with the same code: $name", (each) => {
    const both = ofBoth(each);
    expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
    expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
  });
});
