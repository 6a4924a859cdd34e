// Compares the delegate loopback with the reference plugin: the cases of the reference plugin's tests, and generated
// configurations.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { iproute2, missing, privateNamespaces } from "../../../lab/requires.ts";
import { disagreements, runBoth, type Outcomes, comparableAnswer } from "./run-configurations.ts";
import { type Configuration, kinds, patience, SideBySide } from "./side-by-side.ts";

/** The commands of ip(8) that bring `lo` into the state before the ADD. */
const states: Readonly<Record<string, readonly string[]>> = {
  down: [],
  up: ["link set lo up"],
  "up with another address of 127/8": ["link set lo up", "address add 127.0.0.53/32 dev lo"],
  "down with an address": ["address add 127.0.0.1/8 dev lo"],
  "up with a strange address": ["link set lo up", "address add 10.9.9.9/32 dev lo"],
};

const sandbox = "NETNS";
const oldResult = { ip4: { ip: "10.1.0.2/24", gateway: "10.1.0.1" }, dns: {} };
const results: Readonly<Record<string, ((version: string) => object) | undefined>> = {
  "no result": undefined,
  "a result": (version) =>
    isOld(version)
      ? oldResult
      : {
          interfaces: [{ name: "eth0", mac: "0a:58:0a:01:00:02", sandbox }],
          ips: [{ ...of4(version), address: "10.1.0.2/24", gateway: "10.1.0.1", interface: 0 }],
          dns: {},
        },
  "a result of both families": (version) =>
    isOld(version)
      ? { ...oldResult, ip6: { ip: "fd00:1::2/64", gateway: "fd00:1::1", routes: [{ dst: "::/0" }] } }
      : {
          interfaces: [{ name: "br0" }, { name: "veth7" }, { name: "eth0", sandbox }],
          ips: [
            { ...of4(version), address: "10.1.0.2/24", interface: 2 },
            { ...of6(version), address: "fd00:1::2/64", gateway: "fd00:1::1", interface: 2 },
          ],
          routes: [{ dst: "0.0.0.0/0", gw: "10.1.0.1" }, { dst: "::/0" }],
          dns: { nameservers: ["10.96.0.10"], domain: "cluster.local", search: ["svc.cluster.local"], options: ["ndots:5"] },
        },
  "a result without addresses": (version) =>
    isOld(version) ? { ip6: { ip: "fd00:1::2/64" }, dns: {} } : { interfaces: [{ name: "eth0", sandbox }], dns: {} },
};

const versions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"];
const isOld = (version: string): boolean => version < "0.3.0";
/** Before 1.0.0, a result's address has its family in `version`. */
const of4 = (version: string): object => (version < "1.0.0" ? { version: "4" } : {});
const of6 = (version: string): object => (version < "1.0.0" ? { version: "6" } : {});

const configurations: readonly Configuration[] = versions.flatMap((cniVersion) =>
  Object.keys(states).flatMap((state) =>
    Object.entries(results).map(([title, result]) => ({
      name: `${cniVersion}, lo ${state}, ${title}`,
      cniVersion,
      step: {},
      ifname: "lo",
      pod: 0,
      ...(result === undefined ? {} : { before: result(cniVersion) }),
    })),
  ),
);
const numbered = configurations.map((each, pod) => ({ ...each, pod }));

const isStrange = ({ name }: Configuration): boolean => name.includes("strange");

describe.each(comparedReleases)("reference plugins $release", (reference) => {
  describe.skipIf(
    missing(
      "the delegate loopback compared with the reference plugin",
      privateNamespaces,
      iproute2,
      reference.requires("loopback"),
    ),
  )("loopback", () => {
    let side: SideBySide;
    let outcomes: ReadonlyMap<string, Outcomes>;
    beforeAll(async () => {
      side = await SideBySide.open({
        type: "loopback",
        findNative: reference.plugin,
        pods: numbered.length,
        grants: { loopback: { links: {}, log: {} } },
        lanes: 6,
      });
      await Promise.all(
        kinds.flatMap((kind) =>
          numbered.map(({ pod, name }) => {
            const commands = states[/lo (.*), (?:no|a) result/u.exec(name)?.[1] ?? ""] ?? [];
            return commands.length === 0
              ? ""
              : side.lanes.run(`ip -n ${side.pod(kind, pod)} -batch - <<'EOF'\n${commands.join("\n")}\nEOF`);
          }),
        ),
      );
      outcomes = await runBoth(side, numbered, { link: "lo" });
    }, patience);
    afterAll(() => side.close(), patience);

    const ofBoth = ({ name }: Configuration): Outcomes => {
      const both = outcomes.get(name);
      if (both === undefined) throw new Error(`${name} was not run`);
      return both;
    };

    test.each(numbered.filter((each) => !isStrange(each)))(
      "has the same effect and result as the reference plugin: $name",
      (configuration) => {
        const { native, wasm } = ofBoth(configuration);
        expect(native.added).toMatchObject({ status: 0 });
        expect(comparableAnswer(side, configuration, "wasm", wasm.added)).toEqual(
          comparableAnswer(side, configuration, "native", native.added),
        );
        expect(wasm.made).toEqual(native.made);
        expect(disagreements(ofBoth(configuration))).toEqual([]);
        expect(wasm.left?.link["flags"]).toEqual(["LOOPBACK"]);
        expect(wasm.left).toEqual(native.left);
      },
    );

    test.each(numbered.filter(isStrange))("refuses the call, as the reference plugin does: $name", (configuration) => {
      const { native, wasm } = ofBoth(configuration);
      expect([native.added.status, wasm.added.json]).toMatchObject([
        1,
        { code: 100, msg: expect.stringContaining('"10.9.9.9"') },
      ]);
      expect(wasm.made).toEqual(native.made);
    });

    test.each(["0.4.0", "1.0.0"])("[%s] sets the lo device to UP, and to DOWN", (version) => {
      const { wasm } = outcomes.get(`${version}, lo down, no result`) ?? {};
      expect([wasm?.made?.link["flags"], wasm?.left?.link["flags"]]).toEqual([["LOOPBACK", "UP"], ["LOOPBACK"]]);
      expect(wasm?.made?.addresses).toEqual(["127.0.0.1/8 host ", "::1/128 host "]);
    });

    test("ran as often as the reference plugin", async () => {
      // Each plugin runs DEL of the other's attachments, and of its own refused ADDs as their undo.
      const each = numbered.length;
      await expect
        .poll(() => side.steps())
        .toMatchObject({ "ADD native": each, "ADD wasm": each, "DEL native": each, "DEL wasm": each });
    });
  });
});
