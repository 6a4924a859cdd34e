// The delegate tuning against the reference plugin: generated configurations through both.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../harness/requires.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { disagreements, codeOf, play, type Played, saidOf } from "./play.ts";
import { type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";
import { ofNamespace, tuningConfigurations } from "./tuning-configurations.ts";

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");

describe.skipIf(
  missing(
    "the delegate tuning beside the reference plugin",
    privateNamespaces,
    iproute2,
    linkType("veth"),
    referencePlugins("tuning"),
  ),
)("tuning", () => {
  const keys = Object.keys(ofNamespace).map((key) => key.replaceAll(".", "/"));
  let side: SideBySide;
  let played: ReadonlyMap<string, Played>;
  const before: Partial<Record<Kind, ReadonlyMap<string, LinkFacts>>> = {};
  /** Of the whole namespace, before and after. */
  const globals: [Partial<Record<Kind, object>>, Partial<Record<Kind, object>>] = [{}, {}];
  const directories = (): readonly [string, string] => [`${side.state}/tuning`, `${side.state}/elsewhere`];

  beforeAll(async () => {
    side = await SideBySide.open({
      type: "tuning",
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
        tuningConfigurations.map(({ ifname }, at) => {
          const pod = `netns ${side.pod(kind, 0)}`;
          return `link add ${ifname} address 0a:58:0a:02:${at.toString(16).padStart(2, "0")}:01 ${pod} type veth peer name ${kind[0] ?? ""}${at}`;
        }),
      ),
    );
    const [own, elsewhere] = directories();
    for (const directory of [own, elsewhere]) mkdirSync(directory, { recursive: true });
    for (const kind of kinds) {
      before[kind] = await side.links(kind);
      globals[0][kind] = await side.settings(kind, keys);
    }
    const configurations = tuningConfigurations.map((each) => ({
      ...each,
      step: { ...each.step, dataDir: each.step["dataDir"] === undefined ? own : elsewhere },
    }));
    played = await play(side, configurations);
    for (const kind of kinds) globals[1][kind] = await side.settings(kind, keys);
  }, patience);
  afterAll(() => side.close(), patience);

  /** A MAC as the kernel spells it: the reference tells the configuration's own spelling. */
  function said(configuration: Configuration, kind: Kind, half: Played[Kind]): unknown {
    const text = JSON.stringify(saidOf(side, configuration, kind, half.added));
    return JSON.parse(
      text.replaceAll(/"mac":"([^"]*)"/gu, (_, mac: string) => `"mac":"${mac.toLowerCase().replaceAll("-", ":")}"`),
    );
  }

  const ofBoth = ({ name }: Configuration): Played => {
    const both = played.get(name);
    if (both === undefined) throw new Error(`${name} was not played`);
    return both;
  };

  test.each(tuningConfigurations.filter((each) => !isRefused(each)))(
    "does as the reference plugin does: $name",
    (configuration) => {
      const both = ofBoth(configuration);
      const { native, wasm } = both;
      expect(native.added).toMatchObject({ status: 0 });
      expect(said(configuration, "wasm", wasm)).toEqual(said(configuration, "native", native));
      expect(wasm.made).toEqual(native.made);
      expect(disagreements(both)).toEqual([]);
      expect(wasm.left).toEqual(native.left);
      // DEL restores the interface, whoever changed it; sysctls stay.
      const was = before.native?.get(`0 ${configuration.ifname}`);
      expect([wasm.left?.link, wasm.left?.addresses]).toEqual([was?.link, was?.addresses]);
    },
  );

  test.each(tuningConfigurations.filter(isRefused))("does as the reference plugin does: $name", (configuration) => {
    const both = ofBoth(configuration);
    expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
    expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
    expect(both.wasm.made).toEqual(before.wasm?.get(`0 ${configuration.ifname}`));
  });

  test("changes what belongs to the whole namespace as the reference plugin does", () => {
    const [was, is] = globals;
    expect([was.wasm, is.wasm]).toEqual([was.native, is.native]);
    expect(Object.keys(is.wasm ?? {})).toHaveLength(keys.length);
    expect(is.wasm).not.toEqual(was.wasm);
  });

  test("leaves no backup behind, and ran as often as the reference plugin", async () => {
    for (const directory of directories()) expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
    const each = tuningConfigurations.length;
    await expect.poll(() => side.steps()).toMatchObject({ "ADD native": each, "ADD wasm": each });
  });
});
