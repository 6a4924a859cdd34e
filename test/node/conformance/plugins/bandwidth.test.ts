// Compares the delegate bandwidth with the reference plugin: qdiscs, filters, devices and results after ADD, and what DEL leaves.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { trafficControl } from "../../../lab/traffic-control.ts";
import { type Attaching, nothing, openStage, shown, type Stage } from "../../../lab/stage.ts";

const kinds = ["native", "wasm"] as const;
type Kind = (typeof kinds)[number];

const toPod = { ingressRate: 8_000_000, ingressBurst: 800_000 };
const fromPod = { egressRate: 40_000_000_123, egressBurst: 4_000_007 };

const cases: readonly (readonly [about: string, step: object, runtimeConfig: object])[] = [
  ["both directions", { ...toPod, ...fromPod }, {}],
  ["towards the pod", toPod, {}],
  ["from the pod", fromPod, {}],
  ["the runtime's bounds", { capabilities: { bandwidth: true } }, { bandwidth: { ...toPod, ...fromPod } }],
  ["the configuration before the runtime", { ...toPod, capabilities: { bandwidth: true } }, { bandwidth: fromPod }],
  ["no bounds", { ingressRate: 0, ingressBurst: 0 }, {}],
];

const mistakes: readonly object[] = [
  { ingressRate: 8_000_000 },
  { egressBurst: 8_000_000 },
  { ingressRate: 8_000_000, ingressBurst: 8 * 0xffff_ffff },
];

describe.each(comparedReleases)("DE-BANDWIDTH-01: bandwidth and the reference plugins $release", (reference) => {
  const needs = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), trafficControl, command("tc", "-V")] as const;
  const unable = missing("bandwidth compared with the reference plugin", ...needs, reference.requires("bandwidth"));
  let stage: Stage;
  beforeAll(() => {
    if (unable) return;
    stage = openStage({
      native: ["bandwidth"],
      findNative: reference.plugin,
      components: ["bridge-adapter", "ipam-host-local", "bandwidth"],
    });
  });
  afterAll(() => stage?.dispose());

  /** Qdiscs, filters and devices of the node, without numbers and names that differ between two pods. */
  const bounds = (): readonly string[] => {
    const script =
      "tc qdisc show; for link in $(ls /sys/class/net); do tc filter show dev $link parent ffff:; done; ip -d link show type ifb";
    const { stdout, status, stderr } = spawnSync("nsenter", [`--net=${stage.node.path}`, "--", "sh", "-c", script], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
    return stdout
      .split("\n")
      .filter((line) => /qdisc (?:tbf|htb|ingress)|u32|match|mirred|bwp/u.test(line))
      .map((line) =>
        line
          .replaceAll(/bwp[0-9a-f]+/gu, "IFB")
          .replaceAll(/veth\w+/gu, "VETH")
          .replaceAll(/^\d+: | (?:refcnt|index) \d+| alias \S+/gu, "")
          .trim(),
      )
      .toSorted();
  };

  const attaching = (kind: Kind, step: object, runtimeConfig: object): Attaching => {
    const bridge = {
      type: "bridge-adapter",
      bridge: "br0",
      ipam: { type: "ipam-host-local", subnet: "10.21.0.0/24" },
    };
    const config = stage.network([bridge, { type: "bandwidth", ...step }], {
      cniVersion: "1.0.0",
      runtimeConfig,
      wasm: {
        prefer: kind === "wasm",
        grants: {
          "bridge-adapter": { links: { bridges: ["br*"] }, delegation: { plugins: ["ipam-host-local"] }, log: {}, announce: {} },
          bandwidth: { shaping: {} },
          "ipam-host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
        },
      },
    });
    return { config, containerId: kind, pod: stage.pod() };
  };

  test.skipIf(unable).each(cases)("the same qdiscs, filters, devices and results: %s", async (_about, step, runtimeConfig) => {
    const states: unknown[] = [];
    for (const kind of kinds) {
      const call = attaching(kind, step, runtimeConfig);
      const { json } = await stage.succeed("ADD", call);
      expect(shown(stage.steps()).at(-1)).toBe(`ADD bandwidth ${kind}`);
      const { interfaces } = json as { readonly interfaces: readonly { readonly name: string; readonly mac: string }[] };
      const added = bounds();
      await stage.succeed("CHECK", call);
      await stage.succeed("DEL", call);
      stage.steps();
      expect([bounds(), stage.left()]).toEqual([[], nothing]);
      const listed = interfaces.map(({ name, ...rest }) => `${name.slice(0, 3)}: ${Object.keys(rest).toSorted().join(" ")}`);
      states.push({ added, listed });
    }
    const [native, wasm] = states;
    expect(wasm).toEqual(native);
  });

  test.skipIf(unable).each(mistakes)("both refuse %j", async (step) => {
    for (const kind of kinds) {
      const call = attaching(kind, step, {});
      expect([kind, (await stage.call("ADD", call)).status]).not.toEqual([kind, 0]);
      stage.steps();
      expect(bounds()).toEqual([]);
    }
  });
});
