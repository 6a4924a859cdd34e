// Shadow steps through the installed binary, in real network namespaces and with the reference plugins: X-2.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { startDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import { leases } from "../../lab/namespaces.ts";
import { type Call, dist } from "../../lab/plexus.ts";
import { readPrometheusText, valueOf } from "../../lab/prometheus-text.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

const installation = {
  native: ["bridge", "host-local", "tuning"],
  components: ["ipam-host-local", "status-shaper", "tuning", "portmap"],
} as const;
const lacks = missing(
  "shadow steps",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins(...installation.native),
);

describe.skipIf(lacks)("a shadow beside a native step", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(installation);
  });
  afterEach(() => stage.dispose());

  const bridge = (more: object = {}): object => ({
    type: "bridge",
    bridge: "br0",
    isGateway: true,
    ipam: { type: "host-local", subnet: "10.10.0.0/24", routes: [{ dst: "0.0.0.0/0" }], dataDir: stage.leases, ...more },
  });
  const somaxconn = "net.core.somaxconn";
  const tuning = (more: object = {}): object => ({
    type: "tuning",
    sysctl: { [somaxconn]: "500" },
    mtu: 1400,
    dataDir: stage.tuning,
    ...more,
  });
  const shadowed = (steps: object, plugins: readonly object[], more: object = {}): object =>
    stage.network(plugins, {
      steps,
      ...more,
      wasm: {
        grants: {
          "ipam-host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
          tuning: { sysctl: { keys: ["net/core/*"] }, links: {}, state: { directories: [stage.tuning] }, log: {} },
          portmap: { firewall: {}, log: {} },
        },
      },
    });

  /** Attaches, checks and detaches a pod. Answers the warnings of ADD and CHECK. */
  const life = async (
    config: object,
    env: Call["env"] = {},
  ): Promise<{ readonly added: string; readonly checked: string; readonly json: object }> => {
    const call = { containerId: "one", netns: stage.pod().path, ifname: "eth0", config, env };
    const added = await stage.request({ verb: "ADD", ...call });
    expect({ status: added.status, error: added.status === 0 ? "" : added.stdout }).toEqual({ status: 0, error: "" });
    expect(leases(stage.leases)).toHaveLength(1);
    const checked = await stage.request({ verb: "CHECK", ...call });
    expect({ status: checked.status, error: checked.stdout }).toEqual({ status: 0, error: "" });
    expect((await stage.request({ verb: "DEL", ...call })).status).toBe(0);
    // A daemon keeps the configuration of each network.
    expect({ ...stage.left(), state: [] }).toEqual(nothing);
    return { added: added.stderr, checked: checked.stderr, json: Object(added.json) };
  };

  test("X-2: ipam-host-local beside host-local, and tuning beside tuning, answer the same and change nothing", async () => {
    const steps = { "host-local": { shadow: "ipam-host-local" }, tuning: { shadow: "tuning" } };
    const { added, checked, json } = await life(shadowed(steps, [bridge(), tuning()]));
    expect([added, checked]).toEqual(["", ""]);
    expect(json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }] });
  });

  test("X-2: the daemon counts matches and mismatches, and plexusctl status shows them", async () => {
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    const statusSocket = join(dirname(socket), "status.sock");
    const daemon = await startDaemon({ socket, args: ["--state-dir", stage.plexus.state("cni")] });
    onTestFinished(async () => void (await daemon.stop()));
    const steps = { "host-local": { shadow: "ipam-host-local" }, tuning: { shadow: "tuning" } };
    const dns = { nameservers: ["10.10.0.1"], search: ["shop.example"] };
    const counts = async () => {
      const families = readPrometheusText((await httpRequest(statusSocket, "/metrics")).body);
      return (verb: string, shadow: string, outcome: string) =>
        valueOf(families, "plexus_shadow_runs_total", { verb, shadow, outcome }) ?? 0;
    };
    const matching = ["ADD", "CHECK"].flatMap((verb) => ["ipam-host-local", "tuning"].map((shadow) => [verb, shadow] as const));
    let runs = await counts();
    // A shadow that takes longer than its second is skipped, as on a busy machine: the same pods again.
    for (let tries = 0; tries < 20 && !matching.every((each) => runs(...each, "match") > 0); tries++) {
      await life(shadowed(steps, [bridge(), tuning()]), { PLEXUS_SOCKET: socket });
      runs = await counts();
    }
    for (let tries = 0; tries < 20 && runs("ADD", "status-shaper", "mismatch") === 0; tries++) {
      await life(shadowed({ tuning: { shadow: "status-shaper" } }, [bridge(), tuning({ dns })]), { PLEXUS_SOCKET: socket });
      runs = await counts();
    }
    expect(matching.filter((each) => runs(...each, "match") === 0 || runs(...each, "mismatch") > 0)).toEqual([]);
    const differing = runs("ADD", "status-shaper", "mismatch");
    expect([differing > 0, runs("ADD", "status-shaper", "match")]).toEqual([true, 0]);
    const families = readPrometheusText((await httpRequest(statusSocket, "/metrics")).body);
    expect(valueOf(families, "plexus_shadow_mismatch_total", { verb: "ADD", shadow: "status-shaper", type: "tuning" })).toBe(
      differing,
    );
    expect(valueOf(families, "plexus_shadow_mismatch_total", { shadow: "ipam-host-local" })).toBeUndefined();
    const status = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "status", "--status-socket", statusSocket], {
      encoding: "utf8",
    });
    const text = status.stdout.replaceAll(/\s+/gu, " ");
    expect(text).toMatch(/ipam-host-local beside host-local: \d+ runs, 0 mismatches/u);
    expect(text).toMatch(
      /status-shaper beside tuning: \d+ runs, [1-9]\d* mismatches, \d+ not compared; the last differs: the native plugin succeeded, and the shadow failed: code 101, status-shaper: /u,
    );
  });

  test("X-2: a shadow that answers otherwise is logged with the difference, and the pod gets the native result", async () => {
    const dns = { nameservers: ["10.10.0.1"], search: ["shop.example"] };
    const { added, json } = await life(shadowed({ tuning: { shadow: "status-shaper" } }, [bridge(), tuning({ dns })]));
    expect(added).toContain(
      'ADD of plugin type="tuning": the shadow status-shaper of tuning differs: [{"op":"add","path":"/dns"',
    );
    expect(JSON.stringify(json)).not.toContain("shop.example");
  });

  test("X-1 E-11 X-2 X-5: the chain trace has the verdicts of rules, and each step's budget", async () => {
    const directory = join(stage.plexus.directory, "traces");
    const steps = { "host-local": { shadow: "ipam-host-local" }, tuning: { failure: "open" } };
    const unknown = tuning({ sysctl: { "net.core.no_such_key": "1" } });
    const { added } = await life(shadowed(steps, [bridge(), unknown], { chainTrace: { directory, calls: "all" } }));
    expect(added).toContain('was passed over (failure policy "open")');
    const named = (): string | undefined => readdirSync(directory).find((name) => name.includes("_ADD_one_"));
    await expect.poll(named).toBeDefined();
    const path = join(directory, named() ?? "");
    const read = readChainTrace(readFileSync(path, "utf8"), path);
    if (!read.ok) throw new Error(read.fault.msg);
    expect(read.value.steps.map(({ verb, type, verdicts }) => [`${verb} ${type}`, ...verdicts])).toEqual([
      [
        "ADD bridge",
        { kind: "budget", text: expect.stringMatching(/^The step may take 1[12]\d{4} ms\.$/u) },
        { kind: "shadow", text: "the shadow ipam-host-local of host-local answers the same" },
      ],
      [
        "ADD tuning",
        { kind: "budget", text: expect.stringMatching(/^The step may take 1[56]\d{4} ms\.$/u) },
        { kind: "failure-policy", text: expect.stringContaining("failed and was passed over") },
      ],
      ["DEL tuning", { kind: "budget", text: expect.any(String) }],
    ]);
  });

  test("X-2: a shadow without a grant, and one with firewall, are refused by name and fail nothing", async () => {
    const steps = { tuning: { shadow: "portmap" }, "host-local": { shadow: "nowhere" } };
    const { added } = await life(shadowed(steps, [bridge(), tuning()]));
    expect(added).toContain(
      "the shadow portmap of tuning could not run: portmap can't run as a shadow: firewall can't be simulated",
    );
    expect(added).toContain('the shadow nowhere of host-local could not run: no component "nowhere" is on CNI_PATH');
  });
});
