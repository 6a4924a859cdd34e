// The delegate bridge-adapter against the native plugin bridge: generated configurations through the installed binary, with the same
// `"type": "bridge"`, which the host configuration gives to the one or the other. Both leave the same state in the kernel and answer the
// same; each takes back what the other one made, and its CHECK agrees with it.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../harness/daemon.ts";
import { newer, newerPlugins } from "../../harness/newer-plugins.ts";
import { installPlexus, missingBuild, type Answer, type Installation } from "../../harness/plexus.ts";
import {
  iproute2,
  linkType,
  missing,
  privateNamespaces,
  referencePlugin,
  referencePlugins,
  type Requirement,
} from "../../harness/requires.ts";
import { failing, scenarios, type Scenario } from "./configurations.ts";
import { differences } from "./differences.ts";
import { installPlugins, Lane, type Backend, type Played } from "./lane.ts";

/** A release of the reference plugins to compare with. */
interface Oracle {
  readonly release: string;
  readonly directory: () => string | undefined;
  readonly missing: readonly Requirement[];
  /** Settings and members of links that it leaves otherwise than newer releases do, and so do we. */
  readonly leaves: readonly string[];
  /** Its CHECK refuses routes whose gateway is IPAM's. */
  readonly checksOnlyOwnGateways: boolean;
}

const oracles: readonly Oracle[] = [
  {
    release: "the distribution's",
    directory: () => dirname(referencePlugin("bridge") ?? "/bridge"),
    missing: [referencePlugins("bridge", "host-local")],
    leaves: ["txqlen", "ipv6/conf/eth0/keep_addr_on_down"],
    checksOnlyOwnGateways: true,
  },
  { release: "a newer", directory: newerPlugins, missing: [newer], leaves: ["txqlen"], checksOnlyOwnGateways: false },
];

const wanted = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge")];
const build = (): string | undefined => missingBuild({ components: ["bridge-adapter", "ipam-host-local"] });

/** Configurations, each played four times: by either backend, and taken back by the other one. */
const RUNS = 130;
/** CHECK and DEL of the other one agree, and no address is kept. */
const clean = { checked: "", deleted: "", leases: [] };
/** Nodes side by side: a DEL sleeps in the kernel most of its time. */
const LANES = 3;

describe.each(oracles)("bridge-adapter and $release native bridge", (oracle) => {
  describe.skipIf(missing("differential test of bridge-adapter", ...wanted, build, ...oracle.missing))("side by side", () => {
    let plexus: Installation;
    let daemon: TestDaemon;
    let lanes: readonly Lane[];
    beforeAll(async () => {
      plexus = installPlexus();
      installPlugins(plexus, oracle.directory() ?? "");
      const socket = join(plexus.directory, "run", "plexus.sock");
      mkdirSync(join(plexus.directory, "run"));
      daemon = await startDaemon({ socket });
      lanes = Array.from({ length: LANES }, (_, index) => new Lane(plexus, `lane${index}`, socket, oracle.leaves));
    });
    afterAll(async () => {
      for (const lane of lanes ?? []) lane.close();
      await daemon?.stop();
      plexus?.dispose();
    });

    test(`agree on ${RUNS} generated configurations: state, result, CHECK and DEL`, async () => {
      const generated = fc.sample(scenarios, { seed: 20_261_122, numRuns: RUNS });
      const waiting = generated.entries();
      const worked: boolean[] = [];
      // All of them to their end: a lane that went on would meet the next test.
      const ended = await Promise.allSettled(
        lanes.map(async (lane) => {
          for (const [index, scenario] of waiting) {
            const { native, wasm } = await outcomes(lane, scenario, oracle);
            const about = { index, scenario, words: [native["words"], wasm["words"]] };
            expect({ ...about, native_wasm: differences({ ...native, words: 0 }, { ...wasm, words: 0 }) }).toEqual({
              ...about,
              native_wasm: [],
            });
            expect({ checked: native["checked"], deleted: native["deleted"], leases: native["leases"] }).toEqual(clean);
            worked.push(native["added"] === true);
          }
        }),
      );
      for (const end of ended) if (end.status === "rejected") throw end.reason;
      expect(worked.filter(Boolean).length).toBeGreaterThanOrEqual(120);
      process.stderr.write(`${costs(lanes)}\n`);
    }, 240_000);

    test.each(failing)("both refuse $what; of the delegate nothing is left at all", async ({ scenario, netns }) => {
      const [lane] = lanes;
      if (lane === undefined) throw new Error("no lane");
      for (const backend of ["native", "wasm"] as const) {
        await lane.prepare(scenario);
        const before = lane.node.links().map(({ name }) => name);
        const attachment = { scenario, containerId: `refused-${backend}`, ...(netns === undefined ? {} : { netns }) };
        const added = await lane.call("ADD", attachment, backend);
        const left = backend === "native" ? before : lane.node.links().map(({ name }) => name);
        await lane.clear();
        expect({ backend, status: added.status, code: added.json?.["code"], leases: lane.leases(attachment), left }).toEqual({
          backend,
          status: 1,
          code: expect.any(Number),
          leases: [],
          left: before,
        });
      }
    });
  });
});

/** What either backend made of a configuration, and what the other one says of it. */
async function outcomes(lane: Lane, scenario: Scenario, oracle: Oracle): Promise<Readonly<Record<Backend, Outcome>>> {
  const checked = isChecked(scenario, oracle);
  return {
    native: await outcome(lane, scenario, ["native", "wasm"], checked),
    wasm: await outcome(lane, scenario, ["wasm", "native"], checked),
  };
}

type Outcome = Readonly<Record<string, unknown>>;

async function outcome(
  lane: Lane,
  scenario: Scenario,
  [backend, other]: readonly [Backend, Backend],
  isToCheck: boolean,
): Promise<Outcome> {
  const { attachment, played } = await lane.play(scenario, backend);
  const added = played.added.status === 0 ? true : said(played.added);
  const checked = added === true && isToCheck ? said(await lane.call("CHECK", attachment, other)) : "";
  const deleted = said(await lane.call("DEL", attachment, other));
  const after = await lane.look();
  await lane.clear();
  const end = { added, checked, deleted, leases: lane.leases(attachment) };
  // What the reference leaves on the node of an ADD that failed, it leaves by mistake.
  return added === true ? { ...end, ...comparable(played), after } : { ...end, added: false, words: added, pod: after.pod };
}

function said({ status, stdout, stderr }: Answer): string {
  return status === 0 ? stderr : stdout;
}

function comparable({ added, node, pod }: Played): object {
  return { result: result(added), node, pod };
}

/** A result without what is made up, and without a `dns` that says nothing: whether it is there depends on the release. */
function result({ json }: Answer): unknown {
  const dns = JSON.stringify(json?.["dns"]) === "{}" ? undefined : json?.["dns"];
  const interfaces = Array.isArray(json?.["interfaces"]) ? json["interfaces"] : [];
  const plain = interfaces.map((each: object, index) => ({
    ...each,
    mac: "made up",
    ...(index === 1 ? { name: "made up" } : {}),
  }));
  return { ...json, dns, interfaces: plain };
}

/** CHECK is in CNI since 0.4.0. */
function isChecked({ cniVersion, ipam }: Scenario, { checksOnlyOwnGateways }: Oracle): boolean {
  const routes = Array.isArray(ipam?.["routes"]) ? ipam["routes"] : [];
  if (cniVersion.startsWith("0.3") || ipam === undefined) return false;
  return !checksOnlyOwnGateways || !routes.some((route: object) => !("gw" in route));
}

function costs(all: readonly Lane[]): string {
  const keys = [...new Set(all.flatMap((lane) => [...lane.cost.keys()]))].toSorted();
  return keys
    .map((key) => {
      const ms = all.flatMap((lane) => lane.cost.get(key) ?? []).toSorted((a, b) => a - b);
      return `${key}: ${ms.length} calls, median ${(ms[Math.floor(ms.length / 2)] ?? 0).toFixed(1)} ms`;
    })
    .join("; ");
}
