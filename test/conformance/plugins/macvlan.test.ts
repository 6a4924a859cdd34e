// The delegate macvlan against the reference plugin: generated configurations through both.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../harness/requires.ts";
import { detecting, macvlanConfigurations, macvlanPods, parents } from "./macvlan-configurations.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { isNewer } from "./reference-version.ts";
import { disagreements, codeOf, play, type Played, saidOf } from "./play.ts";
import { type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";

const isNew = isNewer("macvlan");
/** What the reference 1.1.1 doesn't set yet, and 1.9.1 does. */
const newer: ReadonlySet<string> = new Set(isNew ? [] : ["ipv6/ndisc_notify", "ipv6/keep_addr_on_down"]);

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");

/** The facts without what the kernel made up. */
function comparable({ step, args, runtimeConfig }: Configuration, facts: LinkFacts | undefined): unknown {
  if (facts === undefined) return undefined;
  const asked = JSON.stringify([step["mac"], args ?? "", runtimeConfig ?? ""])
    .toLowerCase()
    .includes("c2");
  // 1.1.1 asks for a queue of no length, 1.9.1 for the kernel's own.
  const { mac, queue, ...link } = facts.link;
  return {
    ...facts,
    link: { ...link, queue: isNew ? queue : "some", mac: asked || step["mode"] === "passthru" ? mac : "some" },
    settings: Object.fromEntries(Object.entries(facts.settings).filter(([name]) => !newer.has(name))),
  };
}

describe.skipIf(
  missing(
    "the delegate macvlan beside the reference plugin",
    privateNamespaces,
    iproute2,
    linkType("veth"),
    linkType("macvlan"),
    referencePlugins("macvlan"),
  ),
)("macvlan", () => {
  let side: SideBySide;
  let played: ReadonlyMap<string, Played>;
  beforeAll(async () => {
    side = await SideBySide.open({
      type: "macvlan",
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
    // What most attachments would only wait for; those that show it are in namespaces of their own.
    await Promise.all(
      kinds.flatMap((kind) =>
        Array.from({ length: detecting }, (_, pod) =>
          side.lanes.run(`nsenter --net=${side.path(kind, pod)} -- sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'`),
        ),
      ),
    );
    played = await play(side, macvlanConfigurations);
  }, patience);
  afterAll(() => side.close(), patience);

  function said(configuration: Configuration, kind: Kind, half: Played[Kind]): unknown {
    const text = JSON.stringify(saidOf(side, configuration, kind, half.added));
    const mac = half.made?.link["mac"];
    return JSON.parse(typeof mac === "string" ? text.replaceAll(mac, "MAC") : text);
  }

  const ofBoth = ({ name }: Configuration): Played => {
    const both = played.get(name);
    if (both === undefined) throw new Error(`${name} was not played`);
    return both;
  };

  test.each(macvlanConfigurations.filter((each) => !isRefused(each)))(
    "does as the reference plugin does: $name",
    (configuration) => {
      const { native, wasm } = ofBoth(configuration);
      expect(native.added).toMatchObject({ status: 0 });
      expect(said(configuration, "wasm", wasm)).toEqual(said(configuration, "native", native));
      expect(comparable(configuration, wasm.made)).toEqual(comparable(configuration, native.made));
      expect(disagreements(ofBoth(configuration))).toEqual([]);
      expect([native.left, wasm.left]).toEqual([undefined, undefined]);
    },
  );

  test.each(macvlanConfigurations.filter(isRefused))("does as the reference plugin does: $name", (configuration) => {
    const both = ofBoth(configuration);
    expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
    expect(codeOf(both, "wasm")).toEqual(codeOf(both, "native"));
    expect(both.wasm.made).toBeUndefined();
  });

  test("ran as often as the reference plugin, and leaves nothing", async () => {
    const each = macvlanConfigurations.length;
    const checks = [...played.values()].filter(({ native }) => native.checked !== undefined).length;
    await expect.poll(() => side.steps()).toMatchObject({ "ADD native": each, "ADD wasm": each, "CHECK wasm": checks });
    const leases = await side.lanes.run(
      `find ${side.state}/leases -type f ! -name 'last_reserved*' ! -name lock ! -name '.plexus-spare-*'`,
    );
    expect(leases.trim()).toBe("0");
    const links = [...(await side.links("wasm")).keys()].map((name) => name.replace(/^\d+ /u, ""));
    expect(new Set(links)).toEqual(new Set(["lo", ""]));
  });
});
