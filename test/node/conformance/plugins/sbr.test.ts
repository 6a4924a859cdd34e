// Compares the delegate sbr with the reference plugin: rules, routes of all tables and results after ADD, and rules after DEL. The list also has
// components of the contract 1.0.0 beside sbr's 1.1.0.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PodNamespace } from "../../../lab/namespaces.ts";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { isNewer } from "../../../lab/reference-version.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { type Attaching, nothing, openStage, shown, type Stage } from "../../../lab/stage.ts";

const kinds = ["native", "wasm"] as const;
type Kind = (typeof kinds)[number];

const grants = {
  "bridge-adapter": {
    links: { bridges: ["br*"], forwarding: true },
    delegation: { plugins: ["ipam-host-local"] },
    log: {},
    announce: {},
  },
  sbr: { links: {}, routing: {} },
};

/** Lists of the step sbr, and what IPAM gives besides two addresses. */
const cases: readonly (readonly [about: string, step: object, routes: readonly object[], pool: number])[] = [
  ["default routes", {}, [{ dst: "0.0.0.0/0" }, { dst: "::/0" }], 1],
  ["no routes but the gateways", {}, [], 2],
  [
    "routes by further gateways",
    {},
    [{ dst: "10.200.0.0/16", gw: "10.20.3.9" }, { dst: "fd99::/48", gw: "fd00:20:3::9" }, { dst: "0.0.0.0/0" }],
    3,
  ],
  ["a table of another plugin's", { table: 300 }, [{ dst: "0.0.0.0/0" }], 4],
];

/** Rules and routes without what differs between two pods of one network. */
function stateOf(pod: PodNamespace, addresses: readonly string[]): readonly string[] {
  const script = "ip -4 rule; ip -6 rule; ip -4 route show table all; ip -6 route show table all";
  const { stdout } = pod.exec(["sh", "-c", script]);
  let text = stdout;
  for (const [at, address] of addresses.entries()) text = text.replaceAll(address.replace(/\/.*/u, " "), `ADDRESS${at} `);
  const lines = text.split("\n").map((line) => line.replaceAll(/ proto \w+| pref medium/gu, "").trim());
  return lines.filter((line) => line !== "" && !/table local|^multicast|fe80::[^/]* /u.test(line)).toSorted();
}

describe.each(comparedReleases)("DE-SBR-01 DE-SBR-02: sbr and the reference plugins $release", (reference) => {
  const needs = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), reference.requires("sbr")] as const;
  const unable = missing("sbr compared with the reference plugin", ...needs);
  let stage: Stage;
  beforeAll(() => {
    if (unable) return;
    stage = openStage({
      native: ["sbr"],
      findNative: reference.plugin,
      components: ["bridge-adapter", "ipam-host-local", "tuning", "sbr"],
    });
  });
  afterAll(() => stage?.dispose());

  const attaching = (kind: Kind, step: object, routes: readonly object[], pool: number, pod: PodNamespace): Attaching => {
    const ranges = [[{ subnet: `10.20.${pool}.0/24` }], [{ subnet: `fd00:20:${pool}::/64` }]];
    const bridge = {
      type: "bridge-adapter",
      bridge: `br${pool}`,
      isGateway: true,
      ipam: { type: "ipam-host-local", ranges, routes },
    };
    const config = stage.network([bridge, { type: "sbr", ...step }, { type: "tuning", mtu: 1400, dataDir: stage.tuning }], {
      cniVersion: "1.0.0",
      wasm: {
        prefer: kind === "wasm",
        grants: {
          ...grants,
          tuning: { links: {}, sysctl: {}, state: { directories: [stage.tuning] }, log: {} },
          "ipam-host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
        },
      },
    });
    return { config, containerId: `${kind}-${pool}`, pod };
  };

  // Releases before 1.9 have no `table`.
  const comparable = cases.filter(([, step]) => !("table" in step) || isNewer(reference.plugin("sbr")));

  test.skipIf(unable).each(comparable)("the same rules, routes and results: %s", async (_about, step, routes, pool) => {
    const states: unknown[] = [];
    for (const kind of kinds) {
      const pod = stage.pod();
      const call = attaching(kind, step, routes, pool, pod);
      const before = stateOf(pod, []);
      // The native plugin logs on stderr.
      const succeed = async (verb: string): Promise<unknown> => {
        const { status, stdout, json } = await stage.call(verb, call);
        expect([verb, status, status === 0 ? "" : stdout]).toEqual([verb, 0, ""]);
        return json;
      };
      const json = await succeed("ADD");
      // bridge-adapter and tuning are components of the contract 1.0.0.
      expect(shown(stage.steps()).slice(1)).toEqual([
        expect.stringMatching(/^ADD bridge-adapter wasm/u),
        `ADD sbr ${kind}`,
        "ADD tuning wasm",
      ]);
      const result = json as {
        readonly ips: readonly { readonly address: string }[];
        readonly routes: unknown;
        readonly dns: unknown;
      };
      const addresses = result.ips.map(({ address }) => address);
      const added = stateOf(pod, addresses);
      await succeed("CHECK");
      await succeed("DEL");
      stage.steps();
      expect(stateOf(pod, addresses)).toEqual(before);
      states.push({ added, routes: result.routes, dns: result.dns, count: addresses.length });
    }
    const [native, wasm] = states;
    expect(wasm).toEqual(native);
    expect(JSON.stringify(wasm)).toContain(`from ADDRESS0 lookup ${"table" in step ? 300 : 100}`);
    expect(stage.left()).toEqual(nothing);
  });
});
