// Compares the delegate tuning with the reference plugin: both run generated configurations.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { isNewer } from "../../../lab/reference-version.ts";
import { disagreements, codeOf, runBoth, type Outcomes, comparableAnswer } from "./run-configurations.ts";
import { type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";
import { namespaceSysctls, tuningConfigurations } from "./tuning-configurations.ts";

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");

describe.each(comparedReleases)("reference plugins $release", (reference) => {
  describe.skipIf(
    missing(
      "the delegate tuning compared with the reference plugin",
      privateNamespaces,
      iproute2,
      linkType("veth"),
      reference.requires("tuning"),
    ),
  )("tuning", () => {
    const configurations = tuningConfigurations(isNewer(reference.plugin("tuning")));
    const keys = Object.keys(namespaceSysctls).map((key) => key.replaceAll(".", "/"));
    let side: SideBySide;
    let outcomes: ReadonlyMap<string, Outcomes>;
    const before: Partial<Record<Kind, ReadonlyMap<string, LinkFacts>>> = {};
    /** The sysctls of the whole namespace, before and after. */
    const globals: [Partial<Record<Kind, object>>, Partial<Record<Kind, object>>] = [{}, {}];
    const directories = (): readonly [string, string] => [`${side.state}/tuning`, `${side.state}/elsewhere`];

    beforeAll(async () => {
      side = await SideBySide.open({
        type: "tuning",
        findNative: reference.plugin,
        pods: 1,
        settings: ["ipv4/conf", "ipv6/conf"],
        grants: {
          tuning: {
            log: {},
            links: {},
            sysctl: {
              keys: ["net/ipv4/*", "net/ipv6/*", "net/core/*", "net/ipv4/conf/*/*", "net/ipv6/conf/*/*", "net/ipv4/neigh/*/*"],
            },
            state: { directories: [`/run/plexus/s${process.pid}/tuning`, `/run/plexus/s${process.pid}/elsewhere`] },
          },
        },
        lanes: 6,
      });
      await side.ip(
        kinds.flatMap((kind) =>
          configurations.map(({ ifname }, at) => {
            const pod = `netns ${side.pod(kind, 0)}`;
            return `link add ${ifname} address 0a:58:0a:02:${at.toString(16).padStart(2, "0")}:01 ${pod} type veth peer name ${kind[0] ?? ""}${at}`;
          }),
        ),
      );
      const [defaultDirectory, elsewhere] = directories();
      for (const directory of [defaultDirectory, elsewhere]) mkdirSync(directory, { recursive: true });
      for (const kind of kinds) {
        before[kind] = await side.links(kind);
        globals[0][kind] = await side.settings(kind, keys);
      }
      const directed = configurations.map((each) => ({
        ...each,
        step: { ...each.step, dataDir: each.step["dataDir"] === undefined ? defaultDirectory : elsewhere },
      }));
      outcomes = await runBoth(side, directed);
      for (const kind of kinds) globals[1][kind] = await side.settings(kind, keys);
    }, patience);
    afterAll(() => side.close(), patience);

    /** The result with MACs in the kernel's spelling: the reference prints the configuration's spelling. */
    function comparableResult(configuration: Configuration, kind: Kind, half: Outcomes[Kind]): unknown {
      const text = JSON.stringify(comparableAnswer(side, configuration, kind, half.added));
      return JSON.parse(
        text.replaceAll(/"mac":"([^"]*)"/gu, (_, mac: string) => `"mac":"${mac.toLowerCase().replaceAll("-", ":")}"`),
      );
    }

    const ofBoth = ({ name }: Configuration): Outcomes => {
      const both = outcomes.get(name);
      if (both === undefined) throw new Error(`${name} was not run`);
      return both;
    };

    test.each(configurations.filter((each) => !isRefused(each)))(
      "has the same effect and result as the reference plugin: $name",
      (configuration) => {
        const both = ofBoth(configuration);
        const { native, wasm } = both;
        expect(native.added).toMatchObject({ status: 0 });
        expect(comparableResult(configuration, "wasm", wasm)).toEqual(comparableResult(configuration, "native", native));
        expect(wasm.made).toEqual(native.made);
        expect(disagreements(both)).toEqual([]);
        expect(wasm.left).toEqual(native.left);
        // DEL of either plugin restores the interface; sysctls stay changed.
        const was = before.native?.get(`0 ${configuration.ifname}`);
        expect([wasm.left?.link, wasm.left?.addresses]).toEqual([was?.link, was?.addresses]);
      },
    );

    test.each(configurations.filter(isRefused))(
      "refuses the call with the same code as the reference plugin: $name",
      (configuration) => {
        const both = ofBoth(configuration);
        expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
        expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
        expect(both.wasm.made).toEqual(before.wasm?.get(`0 ${configuration.ifname}`));
      },
    );

    test("sets the sysctls of the whole namespace as the reference plugin does", () => {
      const [was, is] = globals;
      expect([was.wasm, is.wasm]).toEqual([was.native, is.native]);
      expect(Object.keys(is.wasm ?? {})).toHaveLength(keys.length);
      expect(is.wasm).not.toEqual(was.wasm);
    });

    test("leaves no backup behind, and ran as often as the reference plugin", async () => {
      for (const directory of directories()) expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
      const each = configurations.length;
      await expect.poll(() => side.steps()).toMatchObject({ "ADD native": each, "ADD wasm": each });
    });
  });
});
