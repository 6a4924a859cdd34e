// Compares the delegates vlan, ipvlan, dummy and tap with the reference plugins: both run the same configurations in the same list, which names the
// type only. `npm run vm -- test/node/conformance/plugins/main-plugins.test.ts` runs all of them on Debian's kernel.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newer, newerPlugins } from "../../../lab/newer-plugins.ts";
import { iproute2, linkType, missing, privateNamespaces, tunDevice } from "../../../lab/requires.ts";
import { lowerLinks, mainPlugins, mainPods, podBridge, podLink } from "./main-plugins-configurations.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { codeOf, comparableAnswer, disagreements, runBoth, type Outcomes } from "./run-configurations.ts";
import { type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");
/** Plexus refuses a missing IPAM plugin before the first step, so that neither main plugin runs. */
const runs = ({ name }: Configuration): boolean => name !== "refused: an ipam plugin that is not installed";

/** Whether the kernel chooses the MAC. A VLAN and an ipvlan have their lower link's. */
function hasRandomMac(type: string, { step, args, runtimeConfig }: Configuration): boolean {
  const requested = JSON.stringify([step["mac"], args ?? "", runtimeConfig ?? ""])
    .toLowerCase()
    .includes("c2");
  return (type === "dummy" || type === "tap") && !requested;
}

/** The facts without a MAC that the kernel chooses. */
function factsOf(type: string, configuration: Configuration, facts: LinkFacts | undefined): unknown {
  if (facts === undefined || !hasRandomMac(type, configuration)) return facts;
  return { ...facts, link: { ...facts.link, mac: "some" } };
}

async function openSide(type: string): Promise<SideBySide> {
  const side = await SideBySide.open({
    type,
    findNative: (name) => join(newerPlugins() ?? "", name),
    pods: mainPods,
    settings: ["ipv4/conf", "ipv6/conf"],
    grants: {
      [type]: {
        links: {
          parents: kinds.flatMap((kind) => lowerLinks.map((name) => `${kind[0] ?? ""}${name}`)),
          podLinks: [podLink, podBridge, "nobr0"],
        },
        delegation: { plugins: ["ipam-host-local", "no-such-ipam"] },
        log: {},
      },
    },
    lanes: 6,
  });
  const onNode = kinds.flatMap((kind) =>
    lowerLinks.flatMap((name, at) => {
      const link = `${kind[0] ?? ""}${name}`;
      return [
        `link add ${link} address 0a:58:0b:00:00:0${at} type veth peer name ${link}-e`,
        `link set ${link}-e up`,
        `link set ${link} up`,
      ];
    }),
  );
  await side.ip(onNode);
  const pods = kinds.flatMap((kind) => Array.from({ length: mainPods }, (_, pod) => ({ kind, pod })));
  await Promise.all(
    pods.map(async ({ kind, pod }) => {
      const detection = pod === mainPods - 1 ? "1" : "0";
      const inPod = [
        `link add ${podLink} address 0a:58:0b:00:00:09 type veth peer name ${podLink}-e`,
        `link set ${podLink}-e up`,
        `link set ${podLink} up`,
        `link add ${podBridge} type bridge`,
      ];
      await side.lanes.run(
        `nsenter --net=${side.path(kind, pod)} -- sh -c 'echo ${detection} >/proc/sys/net/ipv6/conf/default/accept_dad'
ip -n ${side.pod(kind, pod)} -batch - <<'EOF'\n${inPod.join("\n")}\nEOF`,
      );
    }),
  );
  return side;
}

describe.each(mainPlugins)("DE-VLAN-01 DE-IPVLAN-01 DE-DUMMY-01 DE-TAP-01: $type", ({ type, configurations }) => {
  const skip = missing(
    `the delegate ${type} compared with the reference plugin`,
    privateNamespaces,
    iproute2,
    linkType("veth"),
    type === "tap" ? tunDevice : linkType(type),
    newer,
  );
  describe.skipIf(skip)("beside the reference plugin", () => {
    let side: SideBySide;
    let outcomes: ReadonlyMap<string, Outcomes>;
    beforeAll(async () => {
      side = await openSide(type);
      outcomes = await runBoth(side, configurations);
    }, patience);
    afterAll(() => side.close(), patience);

    function resultOf(configuration: Configuration, kind: Kind, half: Outcomes[Kind]): unknown {
      const text = JSON.stringify(comparableAnswer(side, configuration, kind, half.added));
      const mac = half.made?.link["mac"];
      return JSON.parse(hasRandomMac(type, configuration) && typeof mac === "string" ? text.replaceAll(mac, "MAC") : text);
    }

    const ofBoth = ({ name }: Configuration): Outcomes => {
      const both = outcomes.get(name);
      if (both === undefined) throw new Error(`${name} was not run`);
      return both;
    };

    test.each(configurations.filter((each) => !isRefused(each)))("has the same effect and result: $name", (configuration) => {
      const both = ofBoth(configuration);
      const { native, wasm } = both;
      expect(native.added).toMatchObject({ status: 0 });
      expect(resultOf(configuration, "wasm", wasm)).toEqual(resultOf(configuration, "native", native));
      expect(factsOf(type, configuration, wasm.made)).toEqual(factsOf(type, configuration, native.made));
      expect(disagreements(both)).toEqual([]);
      expect([native.left, wasm.left]).toEqual([undefined, undefined]);
    });

    test.each(configurations.filter(isRefused))("refuses with the same code: $name", (configuration) => {
      const both = ofBoth(configuration);
      expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
      expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
      expect(both.wasm.made).toBeUndefined();
    });

    test("ran as often as the reference plugin, and leaves no lease", async () => {
      const each = configurations.filter(runs).length;
      await expect.poll(() => side.steps()).toMatchObject({ "ADD native": each, "ADD wasm": each });
      const leases = await side.lanes.run(
        `find ${side.state}/leases -type f ! -name 'last_reserved*' ! -name lock ! -name '.plexus-recycled-*'`,
      );
      expect(leases.trim()).toBe("0");
    });

    test("the same list runs by the component once the binary is removed", async () => {
      const [configuration] = configurations;
      if (configuration === undefined) throw new Error(`${type} has no configuration`);
      rmSync(join(side.plexus.cniPath, type));
      const config = side.prepare(configuration)("wasm", "native");
      expect(await side.call("ADD", configuration, config, "wasm")).toMatchObject({ status: 0 });
      expect(await side.call("DEL", configuration, config, "wasm")).toMatchObject({ status: 0 });
      await expect.poll(() => side.steps()).toMatchObject({ "ADD wasm": configurations.filter(runs).length + 1 });
    });
  });
});
