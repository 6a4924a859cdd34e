// Host ports of pods that were attached before Plexus was installed: a DEL by Plexus removes the rules of the reference portmap plugin.

import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callBinary } from "../../lab/plexus.ts";
import { command, linkType, missing, privateNamespaces, referencePlugin, referencePlugins } from "../../lab/requires.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

const needs = missing(
  "host ports of earlier pods",
  privateNamespaces,
  linkType("bridge"),
  linkType("veth"),
  referencePlugins("bridge", "host-local", "portmap"),
  command("iptables", "-V"),
  command("iptables-save", "-V"),
);

const cluster = { cniVersion: "1.0.0", name: "cbr0" };
const runtimeConfig = { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }] };

describe.skipIf(needs)("a pod with a host port that was attached before Plexus was installed", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ native: ["bridge", "host-local", "portmap"] });
  });
  afterEach(() => stage.dispose());

  const plugins = (): readonly object[] => [
    {
      type: "bridge",
      bridge: "br0",
      isGateway: true,
      ipam: { type: "host-local", subnet: "10.60.0.0/24", dataDir: stage.leases },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ];

  /** The node's iptables rules for port 8080. */
  const rules = (): readonly string[] => {
    const saved = spawnSync("nsenter", [`--net=${stage.node.path}`, "iptables-save"], { encoding: "utf8" });
    expect({ status: saved.status, stderr: saved.stderr }).toEqual({ status: 0, stderr: "" });
    return saved.stdout.split("\n").filter((line) => /--dports? 8080\b/u.test(line));
  };

  test("loses its DNAT rules and its address with the DEL of Plexus", async () => {
    const pod = stage.pod();
    const attachment = { containerId: "earlier", netns: pod.path, ifname: "eth0" };
    let prevResult: unknown;
    // The runtime calls the plugins directly, without Plexus.
    for (const plugin of plugins()) {
      const config = { ...cluster, ...plugin, ...(prevResult === undefined ? {} : { prevResult }), runtimeConfig };
      const binary = referencePlugin((plugin as { readonly type: string }).type) ?? "";
      const through = ["nsenter", `--net=${stage.node.path}`];
      const added = await callBinary(binary, { verb: "ADD", ...attachment, config, through }, stage.plexus.cniPath);
      expect([added.status, added.json?.["msg"]]).toEqual([0, undefined]);
      prevResult = added.json;
    }
    expect(rules()).not.toEqual([]);

    const config = stage.host({
      delegates: [{ ...cluster, plugins: plugins() }],
      capabilities: { portMappings: true },
      runtimeConfig,
    });
    await stage.succeed("DEL", { config, containerId: "earlier", pod });
    expect(rules()).toEqual([]);
    expect(stage.left()).toEqual(nothing);
  });
});
