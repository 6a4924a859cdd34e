// Compares the delegate macvlan with the reference plugin: both run generated configurations.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { podsWithoutDetection, macvlanConfigurations, macvlanPods, parents } from "./macvlan-configurations.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { isNewer } from "../../../lab/reference-version.ts";
import { disagreements, codeOf, runBoth, type Outcomes, comparableAnswer } from "./run-configurations.ts";
import { type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";

/** Sysctls that reference plugins of 1.9.1 set, and those of 1.1.1 do not. */
const newer: ReadonlySet<string> = new Set(["ipv6/ndisc_notify", "ipv6/keep_addr_on_down"]);

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");
/** Plexus refuses a missing IPAM plugin before the first step, so that neither main plugin runs. */
const runs = ({ name }: Configuration): boolean => name !== "refused: an ipam plugin that is not installed";

/** The facts without values that the kernel chooses. */
function comparable({ step, args, runtimeConfig }: Configuration, facts: LinkFacts | undefined, isNew: boolean): unknown {
  if (facts === undefined) return undefined;
  const requestedMac = JSON.stringify([step["mac"], args ?? "", runtimeConfig ?? ""])
    .toLowerCase()
    .includes("c2");
  // Version 1.1.1 requests a queue length of 0, version 1.9.1 the kernel's default.
  const { mac, queue, ...link } = facts.link;
  return {
    ...facts,
    link: { ...link, queue: isNew ? queue : "some", mac: requestedMac || step["mode"] === "passthru" ? mac : "some" },
    settings: Object.fromEntries(Object.entries(facts.settings).filter(([name]) => isNew || !newer.has(name))),
  };
}

describe.each(comparedReleases)("reference plugins $release", (reference) => {
  describe.skipIf(
    missing(
      "the delegate macvlan compared with the reference plugin",
      privateNamespaces,
      iproute2,
      linkType("veth"),
      linkType("macvlan"),
      reference.requires("macvlan"),
    ),
  )("macvlan", () => {
    const isNew = isNewer(reference.plugin("macvlan"));
    const configurations = macvlanConfigurations(isNew);
    let side: SideBySide;
    let outcomes: ReadonlyMap<string, Outcomes>;
    beforeAll(async () => {
      side = await SideBySide.open({
        type: "macvlan",
        findNative: reference.plugin,
        pods: macvlanPods,
        settings: ["ipv4/conf", "ipv6/conf"],
        grants: {
          macvlan: {
            links: { parents: kinds.flatMap((kind) => Object.keys(parents).map((name) => `${kind[0] ?? ""}${name}`)) },
            delegation: { plugins: ["ipam-host-local"] },
            log: {},
          },
        },
        lanes: 10,
      });
      await side.ip(
        kinds.flatMap((kind) =>
          Object.entries(parents).flatMap(([name, mtu], at) => {
            const master = `${kind[0] ?? ""}${name}`;
            return [
              `link add ${master} address 0a:58:0b:00:00:0${at} mtu ${mtu} type veth peer name ${master}-e mtu ${mtu}`,
              `link set ${master}-e up`,
              `link set ${master} up`,
            ];
          }),
        ),
      );
      // Without duplicate address detection most attachments need not wait; the last namespaces keep it and test it.
      await Promise.all(
        kinds.flatMap((kind) =>
          Array.from({ length: podsWithoutDetection }, (_, pod) =>
            side.lanes.run(`nsenter --net=${side.path(kind, pod)} -- sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'`),
          ),
        ),
      );
      outcomes = await runBoth(side, configurations);
    }, patience);
    afterAll(() => side.close(), patience);

    function comparableResult(configuration: Configuration, kind: Kind, half: Outcomes[Kind]): unknown {
      const text = JSON.stringify(comparableAnswer(side, configuration, kind, half.added));
      const mac = half.made?.link["mac"];
      return JSON.parse(typeof mac === "string" ? text.replaceAll(mac, "MAC") : text);
    }

    const ofBoth = ({ name }: Configuration): Outcomes => {
      const both = outcomes.get(name);
      if (both === undefined) throw new Error(`${name} was not run`);
      return both;
    };

    test.each(configurations.filter((each) => !isRefused(each)))(
      "has the same effect and result as the reference plugin: $name",
      (configuration) => {
        const { native, wasm } = ofBoth(configuration);
        expect(native.added).toMatchObject({ status: 0 });
        expect(comparableResult(configuration, "wasm", wasm)).toEqual(comparableResult(configuration, "native", native));
        expect(comparable(configuration, wasm.made, isNew)).toEqual(comparable(configuration, native.made, isNew));
        expect(disagreements(ofBoth(configuration))).toEqual([]);
        expect([native.left, wasm.left]).toEqual([undefined, undefined]);
      },
    );

    test.each(configurations.filter(isRefused))(
      "refuses the call with the same code as the reference plugin: $name",
      (configuration) => {
        const both = ofBoth(configuration);
        expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
        expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
        expect(both.wasm.made).toBeUndefined();
      },
    );

    test("ran as often as the reference plugin, and leaves neither links nor leases behind", async () => {
      const each = configurations.filter(runs).length;
      const checks = [...outcomes.values()].filter(({ native }) => native.checked !== undefined).length;
      await expect.poll(() => side.steps()).toMatchObject({ "ADD native": each, "ADD wasm": each, "CHECK wasm": checks });
      const leases = await side.lanes.run(
        `find ${side.state}/leases -type f ! -name 'last_reserved*' ! -name lock ! -name '.plexus-recycled-*'`,
      );
      expect(leases.trim()).toBe("0");
      const links = [...(await side.links("wasm")).keys()].map((name) => name.replace(/^\d+ /u, ""));
      expect(new Set(links)).toEqual(new Set(["lo", ""]));
    });
  });
});
