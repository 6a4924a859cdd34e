// Compares the delegate bond with the plugin of bond-cni, which an administrator has built in PLEXUS_FIELD_PLUGINS: links, settings, results, refusals, CHECK and
// DEL. `npm run vm -- test/node/conformance/plugins/bond.test.ts` runs it on Debian's kernel, where this one has no bonds.

import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fieldPlugin, fieldPluginIsThere } from "../../../lab/field-plugins.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { configurations, deviceConfiguration, devices, members, pods } from "./bond-configurations.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { comparableAnswer, disagreements, type Outcomes, runBoth } from "./run-configurations.ts";
import { type CallAnswer, type Configuration, type Kind, kinds, patience, SideBySide } from "./side-by-side.ts";

/** They end a hang only. */
const [maxTries, pauseMs] = [600, 500];

const isRefused = ({ name }: Configuration): boolean => name.startsWith("refused");
const accepted = configurations.filter((each) => !isRefused(each));
const unable = missing(
  "the delegate bond compared with bond-cni",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bond"),
  fieldPluginIsThere("bond"),
);

/** The veths of a pod, or of a half on the node: different MACs, their peers up. */
function veths(names: readonly string[]): readonly string[] {
  return names.flatMap((name, at) => [
    `link add ${name} address 0a:58:0c:00:00:0${at} type veth peer name ${name}-e`,
    `link set ${name}-e up`,
    `link set ${name} up`,
  ]);
}

/** Waits until links that are up have a carrier: the kernel gives them IPv6 routes then. A bond's carrier comes with its link monitoring. */
async function settle(side: SideBySide): Promise<void> {
  const names = kinds.flatMap((kind) => Array.from({ length: pods }, (_, pod) => side.pod(kind, pod)));
  for (let tries = 0; tries < maxTries; tries++) {
    const shown = await Promise.all(names.map((name) => side.lanes.run(`ip -n ${name} -j link show up`)));
    if (shown.every((text) => !/"operstate":"(?!UP|UNKNOWN)/u.test(text))) return;
    await setTimeout(pauseMs);
  }
  throw new Error("links that are up have no carrier");
}

/** The output of a call that failed; empty for one that succeeded. */
const refusalIn = ({ status, stdout }: CallAnswer): string => (status === 0 ? "" : stdout);

/** The facts of a pod's members. */
const membersIn = (links: ReadonlyMap<string, LinkFacts> | undefined, pod: number): unknown =>
  members.map((name) => links?.get(`${pod} ${name}`));

describe.skipIf(unable)("DE-BOND-01: bond beside bond-cni", () => {
  let side: SideBySide;
  let outcomes: ReadonlyMap<string, Outcomes>;
  /** Each half's links before the first ADD, and after the last DEL. */
  const before = new Map<Kind, ReadonlyMap<string, LinkFacts>>();
  const after = new Map<Kind, ReadonlyMap<string, LinkFacts>>();

  beforeAll(async () => {
    side = await SideBySide.open({
      type: "bond",
      findNative: fieldPlugin,
      pods,
      settings: ["ipv4/conf", "ipv6/conf"],
      grants: {
        bond: {
          links: {
            podLinks: ["m*", "ndev*", "wdev*"],
            devices: ["ndev*", "wdev*"],
            deviceRecords: `/run/plexus/s${process.pid}/devices`,
          },
          delegation: { plugins: ["ipam-host-local"] },
          log: {},
        },
      },
      lanes: 6,
    });
    await side.ip(kinds.flatMap((kind) => veths(devices.map((name) => `${kind[0] ?? ""}${name}`))));
    const all = kinds.flatMap((kind) => Array.from({ length: pods }, (_, pod) => ({ kind, pod })));
    await Promise.all(
      all.map(({ kind, pod }) =>
        side.lanes.run(
          `nsenter --net=${side.path(kind, pod)} -- sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
ip -n ${side.pod(kind, pod)} -batch - <<'EOF'\n${veths(members).join("\n")}\nEOF`,
        ),
      ),
    );
    await settle(side);
    for (const kind of kinds) before.set(kind, await side.links(kind));
    outcomes = await runBoth(side, configurations, { settle: () => settle(side) });
    for (const kind of kinds) after.set(kind, await side.links(kind));
  }, patience);
  afterAll(() => side?.close(), patience);

  const ofBoth = ({ name }: Configuration): Outcomes => {
    const both = outcomes.get(name);
    if (both === undefined) throw new Error(`${name} was not run`);
    return both;
  };
  const call = (verb: string, each: Configuration, kind: Kind): Promise<CallAnswer> =>
    side.call(verb, each, side.prepare(each)(kind, kind), kind);

  test.each(accepted)("has the same effect and result: $name", (each) => {
    const both = ofBoth(each);
    expect([refusalIn(both.native.added), refusalIn(both.wasm.added)]).toEqual(["", ""]);
    expect(comparableAnswer(side, each, "wasm", both.wasm.added)).toEqual(
      comparableAnswer(side, each, "native", both.native.added),
    );
    expect(both.wasm.made?.link).toMatchObject({ kind: "bond" });
    expect(both.wasm.made).toEqual(both.native.made);
    expect(disagreements(both)).toEqual([]);
    expect([both.native.left, both.wasm.left]).toEqual([undefined, undefined]);
  });

  test.each(accepted)("either plugin's DEL leaves the members as they were: $name", ({ pod }) => {
    expect(membersIn(after.get("wasm"), pod)).toEqual(membersIn(after.get("native"), pod));
    expect(membersIn(after.get("wasm"), pod)).toEqual(membersIn(before.get("wasm"), pod));
  });

  test.each(configurations.filter(isRefused))("refuses what bond-cni refuses, and changes no member: $name", (each) => {
    const both = ofBoth(each);
    expect([both.native.added.status, both.wasm.added.status]).toEqual([1, 1]);
    expect(both.wasm.made).toEqual(before.get("wasm")?.get(`${each.pod} ${each.ifname}`));
    expect(membersIn(after.get("wasm"), each.pod)).toEqual(membersIn(before.get("wasm"), each.pod));
  });

  test("a second DEL succeeds with both", async () => {
    for (const kind of kinds) {
      const [first] = accepted;
      if (first === undefined) throw new Error("no configuration is accepted");
      expect([kind, await call("DEL", first, kind)]).toEqual([kind, { status: 0, stdout: "", json: undefined }]);
    }
  });

  test("devices of the node come in with the same effect, and each plugin moves its own back", async () => {
    const made: (LinkFacts | undefined)[] = [];
    const results: string[] = [];
    for (const kind of kinds) {
      const added = await call("ADD", deviceConfiguration, kind);
      expect([kind, refusalIn(added)]).toEqual([kind, ""]);
      results.push(JSON.stringify(comparableAnswer(side, deviceConfiguration, kind, added)));
      await settle(side);
      made.push((await side.links(kind)).get(`${deviceConfiguration.pod} bond0`));
      const inPod = await side.links(kind);
      expect(devices.map((name) => inPod.get(`${deviceConfiguration.pod} ${kind[0] ?? ""}${name}`)?.link["master"])).toEqual([
        "bond0",
        "bond0",
      ]);
      expect([kind, (await call("CHECK", deviceConfiguration, kind)).status]).toEqual([kind, 0]);
      expect([kind, (await call("DEL", deviceConfiguration, kind)).status]).toEqual([kind, 0]);
      expect([kind, (await call("DEL", deviceConfiguration, kind)).status]).toEqual([kind, 0]);
    }
    expect(results[1]).toEqual(results[0]);
    expect(made[1]).toEqual(made[0]);
    const shown = await side.lanes.run("ip -j link show");
    const onNode = [...shown.matchAll(/"ifname":"([nw]dev\d)"/gu)].map(([, name]) => name);
    expect(onNode.toSorted()).toEqual(["ndev0", "ndev1", "wdev0", "wdev1"]);
  });
});
