// Compares the delegate host-device with the reference plugin: both move veths of the node, by name, alternative name and MAC, with and without addresses.
// The one plugin runs ADD, the other CHECK and DEL.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newestRelease } from "../../../lab/reference-releases.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { codeOf, comparableAnswer, disagreements, type Outcomes, runBoth } from "./run-configurations.ts";
import { type Configuration, kinds, patience, SideBySide } from "./side-by-side.ts";

const ipam = (subnet: string, more: object = {}) => ({ ipam: { type: "ipam-host-local", ranges: [[{ subnet }]], ...more } });
const at = (number: number, kind = "MASTER"): string => `${kind}dev${number}`;
const macOf = (number: number, kind: string): string => `0a:58:0${kind === "n" ? 1 : 2}:00:00:0${number}`;

const configurations: readonly Configuration[] = [
  { name: "by name", step: { device: at(0) }, ifname: "net1", pod: 0 },
  { name: "by alternative name", step: { device: "MASTERalternative-name-of-1" }, ifname: "net2", pod: 0 },
  {
    name: "addresses",
    step: { device: at(2), ...ipam("10.1.0.0/24", { routes: [{ dst: "10.9.0.0/16" }] }) },
    ifname: "net3",
    pod: 0,
  },
  {
    name: "two families, dns",
    step: {
      device: at(3),
      dns: { nameservers: ["10.2.0.53"] },
      ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.2.0.0/24" }], [{ subnet: "fd00:2::/64" }]] },
    },
    ifname: "net4",
    pod: 0,
  },
  { name: "version 0.3.1", step: { device: at(4), ...ipam("10.3.0.0/24") }, cniVersion: "0.3.1", ifname: "net5", pod: 0 },
  { name: "the name of a link of the pod", step: { device: at(5) }, ifname: at(5), pod: 0 },
  { name: "refused: no device", step: {}, ifname: "net6", pod: 0 },
  { name: "refused: a missing device", step: { device: "absent0" }, ifname: "net7", pod: 0 },
  { name: "refused: a broken MAC", step: { hwaddr: "zz" }, ifname: "net8", pod: 0 },
  { name: "refused: another path", step: { kernelpath: "/dev/null" }, ifname: "net9", pod: 0 },
  { name: "refused: a missing ID", step: { pciBusID: "0000:ff:1f.7" }, ifname: "net10", pod: 0 },
  { name: "refused: the name is taken", step: { device: at(6) }, ifname: "lo", pod: 0 },
];
const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");

/** Without what the two halves' devices are. */
const neutral = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replaceAll(/0a:58:0[12]:00:00/gu, "MAC")
      .replaceAll(/\b[nw]dev/gu, "dev"),
  );

describe.each(newestRelease)("reference plugins $release", (reference) => {
  describe.skipIf(
    missing(
      "the delegate host-device compared with the reference plugin",
      privateNamespaces,
      iproute2,
      linkType("veth"),
      reference.requires("host-device"),
    ),
  )("host-device", () => {
    let side: SideBySide;
    let outcomes: ReadonlyMap<string, Outcomes>;
    beforeAll(async () => {
      side = await SideBySide.open({
        type: "host-device",
        findNative: reference.plugin,
        pods: 1,
        grants: {
          "host-device": {
            links: { devices: ["ndev*", "wdev*", "absent0", "pci:*"], deviceRecords: `/run/plexus/s${process.pid}/devices` },
            delegation: { plugins: ["ipam-host-local"] },
            log: {},
          },
        },
        lanes: 6,
      });
      await side.ip(
        ["n", "w"].flatMap((kind) =>
          [0, 1, 2, 3, 4, 5, 6].flatMap((number) => [
            `link add ${at(number, kind)} address ${macOf(number, kind)} type veth peer name ${kind}peer${number}`,
            `link set ${kind}peer${number} up`,
          ]),
        ),
      );
      await side.ip(["n", "w"].map((kind) => `link property add dev ${at(1, kind)} altname ${kind}alternative-name-of-1`));
      outcomes = await runBoth(side, configurations);
    }, patience);
    afterAll(() => side.close(), patience);

    const ofBoth = ({ name }: Configuration): Outcomes => {
      const both = outcomes.get(name);
      if (both === undefined) throw new Error(`${name} was not run`);
      return both;
    };
    test("DE-HOST-DEVICE-01: has the effects, results and codes of the reference plugin, and each moves back what the other moved in", async () => {
      for (const configuration of configurations.filter((each) => !isRefused(each))) {
        const both = ofBoth(configuration);
        const { native, wasm } = both;
        const { name } = configuration;
        expect([name, native.added.status, wasm.added.status]).toEqual([name, 0, 0]);
        const results = kinds.map((kind) => neutral(comparableAnswer(side, configuration, kind, both[kind].added)));
        expect([name, results[1]]).toEqual([name, results[0]]);
        expect([name, neutral(wasm.made)]).toEqual([name, neutral(native.made)]);
        expect([name, disagreements(both)]).toEqual([name, []]);
        expect([name, native.left, wasm.left]).toEqual([name, undefined, undefined]);
      }
      for (const configuration of configurations.filter(isRefused)) {
        const both = ofBoth(configuration);
        const { name } = configuration;
        expect([name, both.native.added.status, both.wasm.added.status]).toEqual([name, 1, 1]);
        expect([name, codeOf(both, "wasm")]).toEqual([name, codeOf(both, "native")]);
      }
      const shown = await side.lanes.run("ip -j link show");
      const onNode = [...shown.matchAll(/"ifname":"([nw]dev\d)"/gu)].map(([, name]) => name);
      expect(onNode.toSorted()).toEqual(["n", "w"].flatMap((kind) => [0, 1, 2, 3, 4, 5, 6].map((number) => at(number, kind))));
    });
  });
});
