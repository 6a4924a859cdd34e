// Compares the delegate bridge-adapter with the native plugin bridge: generated configurations through the installed binary, with the same
// `"type": "bridge"`. wasm.prefer selects the backend. Both must leave the same kernel state and answer the same result. CHECK and DEL of each
// must succeed for attachments of the other.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import { newer, newerPlugins } from "../../../lab/newer-plugins.ts";
import { rounds } from "../../../lab/rounds.ts";
import { testSeed } from "../../../lab/random-from.ts";
import { installPlexus, missingBuild, type Answer, type Installation } from "../../../lab/plexus.ts";
import {
  iproute2,
  linkType,
  missing,
  privateNamespaces,
  referencePlugin,
  referencePlugins,
  type Requirement,
} from "../../../lab/requires.ts";
import { failing, scenarios, type Scenario } from "./configurations.ts";
import { differences } from "./differences.ts";
import { installPlugins, Lane, type Backend, type AddOutcome } from "./lane.ts";

/** A compared release of the reference plugins. */
interface Oracle {
  readonly release: string;
  readonly directory: () => string | undefined;
  readonly missing: readonly Requirement[];
  /** Sysctls and members of links that this release leaves in another state than newer releases and the delegate. */
  readonly ignoredMembers: readonly string[];
  /** Whether the release's CHECK refuses routes without their own `gw`, whose gateway is that of IPAM. */
  readonly refusesIpamGateways: boolean;
}

const oracles: readonly Oracle[] = [
  {
    release: "the distribution's",
    directory: () => dirname(referencePlugin("bridge") ?? "/bridge"),
    missing: [referencePlugins("bridge", "host-local")],
    ignoredMembers: ["txqlen", "ipv6/conf/eth0/keep_addr_on_down"],
    refusesIpamGateways: true,
  },
  { release: "a newer", directory: newerPlugins, missing: [newer], ignoredMembers: ["txqlen"], refusesIpamGateways: false },
];

const wanted = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge")];
const build = (): string | undefined => missingBuild({ components: ["bridge-adapter", "ipam-host-local"] });

/** The number of configurations. Each is added by either backend and deleted by the other. */
const RUNS = rounds(130);
/** The outcome of a success: CHECK and DEL of the other backend print nothing, and no lease remains. */
const clean = { checked: "", deleted: "", leases: [] };
/** The number of concurrent nodes. A DEL sleeps in the kernel most of its time. */
const LANES = 3;

describe.each(oracles)("bridge-adapter and $release native bridge", (oracle) => {
  describe.skipIf(missing("differential test of bridge-adapter", ...wanted, build, ...oracle.missing))("the comparison", () => {
    let plexus: Installation;
    let daemon: TestDaemon;
    let lanes: readonly Lane[];
    beforeAll(async () => {
      plexus = installPlexus();
      installPlugins(plexus, oracle.directory() ?? "");
      const socket = join(plexus.directory, "run", "plexus.sock");
      mkdirSync(join(plexus.directory, "run"));
      daemon = await startDaemon({ socket });
      lanes = Array.from({ length: LANES }, (_, index) => new Lane(plexus, `lane${index}`, socket, oracle.ignoredMembers));
    });
    afterAll(async () => {
      for (const lane of lanes ?? []) lane.close();
      await daemon?.stop();
      plexus?.dispose();
    });

    test(`agree on ${RUNS} generated configurations: state, result, CHECK and DEL`, async () => {
      const generated = fc.sample(scenarios, { seed: testSeed("bridge configurations", 20_261_122), numRuns: RUNS });
      const queue = generated.entries();
      const successes: boolean[] = [];
      // Waits for every lane, because a lane that continued would interfere with the next test.
      const ended = await Promise.allSettled(
        lanes.map(async (lane) => {
          for (const [index, scenario] of queue) {
            const { native, wasm } = await outcomes(lane, scenario, oracle);
            const about = { index, scenario, messages: [native["messages"], wasm["messages"]] };
            expect({ ...about, native_wasm: differences({ ...native, messages: 0 }, { ...wasm, messages: 0 }) }).toEqual({
              ...about,
              native_wasm: [],
            });
            expect({ checked: native["checked"], deleted: native["deleted"], leases: native["leases"] }).toEqual(clean);
            successes.push(native["added"] === true);
          }
        }),
      );
      for (const end of ended) if (end.status === "rejected") throw end.reason;
      expect(successes.filter(Boolean).length).toBeGreaterThanOrEqual(Math.floor((RUNS * 12) / 13));
      process.stderr.write(`${costs(lanes)}\n`);
    }, 240_000);

    test.each(failing)("both refuse $problem, and the delegate leaves nothing", async ({ scenario, netns }) => {
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

/** The state and result of each backend's ADD, and the other backend's CHECK and DEL. */
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
  hasCheck: boolean,
): Promise<Outcome> {
  const { attachment, outcome: addOutcome } = await lane.add(scenario, backend);
  const added = addOutcome.added.status === 0 ? true : outputOf(addOutcome.added);
  const checked = added === true && hasCheck ? outputOf(await lane.call("CHECK", attachment, other)) : "";
  const deleted = outputOf(await lane.call("DEL", attachment, other));
  const after = await lane.snapshots();
  await lane.clear();
  const end = { added, checked, deleted, leases: lane.leases(attachment) };
  // After a failed ADD the reference leaves state on the node by mistake, so that only the pod is compared.
  return added === true
    ? { ...end, ...comparable(addOutcome), after }
    : { ...end, added: false, messages: added, pod: after.pod };
}

function outputOf({ status, stdout, stderr }: Answer): string {
  return status === 0 ? stderr : stdout;
}

function comparable({ added, node, pod }: AddOutcome): object {
  return { result: result(added), node, pod };
}

/** A result without generated names and MACs, and without an empty `dns`, which only some releases print. */
function result({ json }: Answer): unknown {
  const dns = JSON.stringify(json?.["dns"]) === "{}" ? undefined : json?.["dns"];
  const interfaces = Array.isArray(json?.["interfaces"]) ? json["interfaces"] : [];
  const plain = interfaces.map((each: object, index) => ({
    ...each,
    mac: "generated",
    ...(index === 1 ? { name: "generated" } : {}),
  }));
  return { ...json, dns, interfaces: plain };
}

/** Whether CHECK of this configuration is compared. CNI has CHECK since 0.4.0. */
function isChecked({ cniVersion, ipam }: Scenario, { refusesIpamGateways }: Oracle): boolean {
  const routes = Array.isArray(ipam?.["routes"]) ? ipam["routes"] : [];
  if (cniVersion.startsWith("0.3") || ipam === undefined) return false;
  return !refusesIpamGateways || !routes.some((route: object) => !("gw" in route));
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
