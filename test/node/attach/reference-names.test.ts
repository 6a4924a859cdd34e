// Lists with the names of the reference plugins: native binaries serve them while they are there, and components of the same names afterwards.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSteps } from "../../../scripts/demo/steps.ts";
import { createPodNamespace, type PodNamespace } from "../../lab/namespaces.ts";
import { type Answer, callBinary, dist, missingBuild } from "../../lab/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugin, referencePlugins } from "../../lab/requires.ts";

const types = ["bridge", "host-local", "tuning", "ptp", "static"] as const;
const skip = missing(
  "lists that outlive their native binaries",
  privateNamespaces,
  iproute2,
  linkType("bridge"),
  linkType("veth"),
  missingBuild,
  referencePlugins(...types),
);

/** A list, and the types that run in its ADD. */
interface Scenario {
  readonly title: string;
  readonly plugins: readonly object[];
  readonly ran: readonly string[];
}

describe.skipIf(skip)("a list with the names of reference plugins", () => {
  let directory: string;
  let node: PodNamespace;
  let pods: readonly PodNamespace[];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-names-"));
    node = createPodNamespace("node");
    pods = [createPodNamespace(), createPodNamespace()];
    mkdirSync(at("bin"));
    for (const type of types) symlinkSync(referencePlugin(type) ?? "", at(`bin/${type}`));
    const args = ["install", "--from", dist, "--home", at("home"), "--cni-bin", at("bin")];
    const installed = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { encoding: "utf8" });
    if (installed.status !== 0) throw new Error(installed.stderr);
  });
  afterEach(() => {
    for (const each of [node, ...pods]) each.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  const at = (path: string): string => join(directory, path);

  const scenarios: readonly Scenario[] = [
    {
      title: "bridge, host-local and tuning",
      plugins: [
        {
          type: "bridge",
          bridge: "names0",
          isDefaultGateway: true,
          ipam: { type: "host-local", subnet: "10.78.0.0/24" },
        },
        { type: "tuning", mtu: 1400 },
      ],
      ran: ["bridge", "host-local", "tuning"],
    },
    {
      title: "ptp and static",
      plugins: [
        {
          type: "ptp",
          ipam: {
            type: "static",
            addresses: [{ address: "10.79.0.2/24", gateway: "10.79.0.1" }],
            routes: [{ dst: "0.0.0.0/0", gw: "10.79.0.1" }],
          },
        },
      ],
      ran: ["ptp", "static"],
    },
  ];

  function call(verb: string, plugins: readonly object[], pod: number, trace: string): Promise<Answer> {
    const config = {
      cniVersion: "1.0.0",
      name: "node",
      type: "plexus",
      cniDir: at("state"),
      runDir: at("run"),
      trace: at(trace),
      wasm: {
        grants: {
          bridge: {
            log: {},
            links: { bridges: ["names0"], forwarding: true },
            delegation: { plugins: ["host-local"] },
          },
          ptp: { log: {}, links: { networks: ["10.79.0.0/24"], forwarding: true }, delegation: { plugins: ["static"] } },
          tuning: { log: {}, links: {}, sysctl: {}, state: { directories: [at("tuning")] } },
          "host-local": { log: {}, leases: { directories: [at("leases")] }, resolver: {} },
        },
      },
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: plugins.map(withDirectories) }],
    };
    return callBinary(
      at("bin/plexus"),
      {
        verb,
        containerId: `c${pod}`,
        netns: pods[pod]?.path ?? "",
        ifname: "eth0",
        config,
        through: ["nsenter", `--net=${node.path}`, "--"],
      },
      at("bin"),
    );
  }

  /** The test's own directories in place of those of the machine. */
  function withDirectories(plugin: object): object {
    const { type, ipam }: { readonly type?: unknown; readonly ipam?: object } = plugin;
    if (type === "tuning") return { ...plugin, dataDir: at("tuning") };
    return ipam !== undefined && "subnet" in ipam ? { ...plugin, ipam: { ...ipam, dataDir: at("leases") } } : plugin;
  }

  /** The findings of doctor about the networks of the journal: Plexus' own file has another network. */
  function nativePlugins(): string {
    const delegates = [{ cniVersion: "1.0.0", name: "other", plugins: [{ type: "status-shaper" }] }];
    writeFileSync(at("plexus.conf"), JSON.stringify({ cniVersion: "1.0.0", name: "node", type: "plexus", delegates }));
    const places = [`--config=${at("plexus.conf")}`, `--state-dir=${at("state")}`, `--cni-path=${at("bin")}`];
    const { stdout } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "doctor", "-o", "json", ...places]);
    const { checks }: { readonly checks: readonly { readonly name: string; readonly found: string }[] } = JSON.parse(
      stdout.toString(),
    );
    return checks.find(({ name }) => name === "native-plugins")?.found ?? "";
  }

  /** The kinds that served each type in the steps of a trace. */
  const served = (trace: string): readonly string[] =>
    [...new Set(readSteps(at(trace)).map(({ type, kind }) => `${type} ${kind}`))].toSorted();

  test.each(scenarios)(
    "runs by native binaries, and after their removal by components: $title",
    async ({ plugins, ran }) => {
      const attached = await call("ADD", plugins, 0, "native");
      expect(attached).toMatchObject({ status: 0 });
      expect(nativePlugins()).toBe(`native plugins are used by pods: ${ran.join(", ")}`);
      // The native main plugin calls its IPAM plugin itself.
      expect(served("native").every((each) => each.endsWith(" native"))).toBe(true);

      for (const type of types) rmSync(at(`bin/${type}`));
      for (const verb of ["CHECK", "DEL"])
        expect(await call(verb, plugins, 0, "component")).toMatchObject({ status: 0, stdout: "" });
      expect(pods[0]?.links()).toEqual([]);
      const again = await call("ADD", plugins, 1, "component");
      expect(nativePlugins()).toBe("no native plugin is used by any network of this node");
      expect(again).toMatchObject({ status: 0, json: { routes: attached.json?.["routes"] } });
      expect(served("component")).toEqual(ran.map((type) => `${type} wasm`).toSorted());
      for (const verb of ["CHECK", "DEL"]) expect(await call(verb, plugins, 1, "component")).toMatchObject({ status: 0 });
      expect([pods[1]?.links(), node.links().map(({ name }) => name)]).toEqual([[], ran.includes("bridge") ? ["names0"] : []]);
    },
    120_000,
  );
});
