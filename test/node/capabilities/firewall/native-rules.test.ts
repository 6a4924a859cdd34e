// A DEL after the migration of a node removes the rules that the reference plugins made for the attachment, and no others. The reference plugins make
// them here.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import { newer, newerPlugins } from "../../../lab/newer-plugins.ts";
import { callBinary } from "../../../lab/plexus.ts";
import { command, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { firewallFor, type FirewallScope } from "../../../../host/capabilities/firewall/scope.ts";

const skip = missing(
  "rules of the reference plugins",
  privateNamespaces,
  command("nft", "--version"),
  command("iptables", "--version"),
  linkType("veth"),
  linkType("bridge"),
  newer,
);

describe.skipIf(skip)("rules of the reference plugins", () => {
  let shop: Workshop;
  let node: PodNamespace;
  const pods: PodNamespace[] = [];
  beforeAll(async () => {
    shop = await openWorkshop();
    node = createPodNamespace("rules");
  });
  afterEach(() => {
    node.exec(["nft", "flush", "ruleset"]);
    for (const pod of pods.splice(0)) pod.dispose();
  });
  afterAll(() => {
    shop.dispose();
    node.dispose();
  });

  const ruleset = (): string => node.exec(["nft", "--stateless", "list", "ruleset"]).stdout;

  /** ADD of a native plugin; its result is the next one's prevResult. */
  async function native(type: string, containerId: string, pod: PodNamespace, more: object): Promise<object> {
    const config = { cniVersion: "1.0.0", name: "pods", type, ...more };
    const directory = newerPlugins() ?? "";
    const call = {
      verb: "ADD",
      containerId,
      netns: pod.path,
      ifname: "eth0",
      config,
      through: ["nsenter", `--net=${node.path}`, "--"],
    };
    const { status, stdout, json } = await callBinary(join(directory, type), call, directory);
    if (status !== 0 || json === undefined) throw new Error(stdout);
    return json;
  }

  async function attach(containerId: string, host: number, backend: "iptables" | "nftables"): Promise<void> {
    const pod = createPodNamespace();
    pods.push(pod);
    const addresses = [{ address: `10.6.0.${host}/24` }, { address: `fd00:6::${host}/64` }];
    const prevResult = await native("bridge", containerId, pod, {
      bridge: "nr0",
      ipMasq: true,
      ipMasqBackend: backend,
      macspoofchk: true,
      ipam: { type: "static", addresses },
    });
    const portMappings = [
      { hostPort: 8000 + host, containerPort: 80, protocol: "tcp" },
      { hostPort: 9000 + host, containerPort: 80, protocol: "udp", hostIP: "192.0.2.1" },
    ];
    await native("portmap", containerId, pod, { backend, snat: true, runtimeConfig: { portMappings }, prevResult });
  }

  const remove = async (type: string, containerId: string): Promise<void> => {
    const scope: FirewallScope = {
      type,
      network: "pods",
      verb: "del",
      attachment: { containerId, ifname: "eth0" },
      grant: type === "portmap" ? { hostPorts: ["1-65535"] } : { masquerade: true },
      facts: { addresses: [], hostVeths: [] },
    };
    await callWith(
      async (engine) => {
        // A second DEL finds nothing more.
        for (let time = 0; time < 2; time++) expect(await firewallFor(scope, engine).remove()).toEqual({ ok: undefined });
      },
      { shim: shop.shim, netns: node.path },
    );
  };

  test.each(["iptables", "nftables"] as const)(
    "of the backend %s go with their attachment, and those of others stay",
    async (backend) => {
      await attach("other", 5, backend);
      const before = ruleset();
      await attach("gone", 6, backend);
      expect(ruleset()).toContain("10.6.0.6");
      expect(ruleset()).toContain("macspoofchk-gone-eth0");
      for (const type of ["bridge", "portmap"]) await remove(type, "gone");
      expect(ruleset()).toBe(before);
      for (const type of ["bridge", "portmap"]) await remove(type, "other");
      expect(ruleset()).not.toMatch(/10\.6\.0\.5|fd00:6::5|macspoofchk-other/u);
    },
  );
});
