// plexusctl probe: a daemon in this process, an agent, and pods of a network in real namespaces.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed } from "../../lab/mixed-network.ts";
import { inHost, type PodNamespace } from "../../lab/namespaces.ts";
import { root } from "../../lab/compiled.ts";
import { dist } from "../../lab/plexus.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";

describe.skipIf(missingForMixed("plexusctl probe"))("plexusctl probe", () => {
  let node: ReconcileNode;
  let manifests: Manifests;
  beforeAll(async () => {
    node = new ReconcileNode();
    manifests = manifestsIn(join(node.stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }], [{ subnet: "fd00:20::/64" }]] };
    manifests.network("storage", [{ type: "bridge", bridge: "br-storage", isGateway: true, ipam }]);
  });
  afterAll(() => node.dispose());

  async function attached(name: string, more: object = {}, selection = "storage", containerId = name): Promise<PodNamespace> {
    const { stage } = node;
    manifests.pod(name, selection);
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, probes: true, ...more });
    const pod = stage.pod();
    await node.succeed("ADD", { config, containerId, pod, args: manifests.argsOf(name) });
    return pod;
  }
  const plexusctl = async (...args: readonly string[]): Promise<{ readonly status: number; readonly text: string }> => {
    const socket = join(node.stage.plexus.directory, "status.sock");
    const command = [join(dist, "plexusctl.cjs"), ...args, "--status-socket", socket];
    try {
      const { stdout } = await promisify(execFile)(process.execPath, command);
      return { status: 0, text: stdout };
    } catch (error) {
      const { code = 0, stdout = "", stderr = "" } = Object(error);
      return { status: code, text: `${stdout}${stderr}` };
    }
  };
  /** The targets as `what address outcome bytes`. */
  const probed = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { text } = await plexusctl("probe", ...args, "-o", "json");
    const { targets }: { targets: { what: string; address: string; outcome: string; bytes: number }[] } = JSON.parse(text);
    return targets.map(({ what, address, outcome, bytes }) => `${what} ${address} ${outcome} ${bytes}`);
  };

  test("PR-05: the gateway, the other pods of both families and a given address; what is lost, and a smaller MTU on the way", async () => {
    await attached("asks");
    const other = await attached("other");
    const narrow = await attached("narrow");
    narrow.exec(["ip", "link", "set", "net1", "mtu", "1400"]);
    other.exec(["ip", "link", "set", "net1", "down"]);
    // The kernel answers for the gateway's IPv6 address once duplicate address detection has ended.
    const show = ["ip", "-6", "address", "show", "dev", "br-storage"] as const;
    await expect.poll(() => node.stage.node.exec(show).stdout).not.toContain("tentative");
    const targets = await probed("shop/asks", "storage", "10.20.0.99", "192.0.2.1");
    expect(targets).toEqual([
      "gateway 10.20.0.1 answers 1500",
      "gateway fd00:20::1 answers 1500",
      "pod shop/narrow 10.20.0.4 answers-small 64",
      "pod shop/narrow fd00:20::4 answers-small 88",
      "pod shop/other 10.20.0.3 no-neighbour 0",
      "pod shop/other fd00:20::3 no-neighbour 0",
      "address 10.20.0.99 no-neighbour 0",
      expect.stringMatching(/^address 192\.0\.2\.1 (?:lost|unreachable) 0$/u),
    ]);
    const { status, text } = await plexusctl("probe", "shop/asks", "net1");
    expect(status).toBe(1);
    expect(text).toMatch(
      /^shop\/asks net1 on shop\/storage, MTU 1500\n\nTARGET +ADDRESS +NEIGHBOUR +RESULT\ngateway +10\.20\.0\.1 +(?:[\da-f]{2}:){5}[\da-f]{2} +answers packets of 1500 bytes\n/u,
    );
  });

  test("PR-05: a host of the pod's second network is asked from the address that the host knows", async () => {
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.21.0.0/24" }], [{ subnet: "10.22.0.0/24" }]] };
    manifests.network("twofold", [{ type: "bridge", bridge: "br-twofold", ipam }]);
    await attached("twofold", {}, "twofold");
    const other = await attached("second", {}, "twofold");
    other.exec([
      "sh",
      "-ec",
      "ip addr flush dev net1; ip addr add 10.22.0.99/24 dev net1; ip route flush table main; ip route add 10.22.0.0/24 dev net1",
    ]);
    expect(await probed("shop/twofold", "twofold", "10.22.0.99")).toContain("address 10.22.0.99 answers 1500");
  });

  test("PR-05: a pod or a network that is not there, and a node whose configuration lacks the key, are told", async () => {
    expect((await plexusctl("probe", "shop/nobody", "storage")).text).toContain("this node has no attachment of it");
    expect((await plexusctl("probe", "shop/asks", "fast")).text).toContain("it has eth0 (default), net1 (shop/storage)");
    await attached("off", { probes: false });
    expect((await plexusctl("probe", "shop/off", "storage")).text).toContain("set the key probes");
  });

  test("PR-05: a network namespace that has taken the path of the pod's is not probed", async () => {
    const pod = await attached("taken");
    expect((await plexusctl("probe", "shop/taken", "net1")).text).toMatch(/^shop\/taken net1 on shop\/storage/u);
    inHost(["ip", "netns", "delete", pod.name]);
    inHost(["ip", "netns", "add", pod.name]);
    inHost(["ip", "-n", pod.name, "link", "add", "net1", "type", "veth", "peer", "name", "net2"]);
    const { status, text } = await plexusctl("probe", "shop/taken", "net1");
    expect([status, text]).toEqual([1, expect.stringContaining("is another network namespace than that of its ADD")]);
  });

  test("WA-01 WA-06 PR-05: the commands of the page work as they stand", async () => {
    const page = readFileSync(join(root, "docs", "how-to", "when-a-network-breaks.md"), "utf8");
    const commands = [...page.matchAll(/^plexusctl ([^#\n]+)/gmu)].map(([, words = ""]) => words.trim().split(/ +/u));
    expect(commands.map(([name]) => name)).toEqual(["status", "top", "top", "probe"]);
    await attached("web", { linkWatch: {}, linkCounters: true });
    for (const words of commands) {
      const answer = await plexusctl(...words);
      expect([words, answer]).toEqual([words, { status: expect.toBeOneOf([0, 1]), text: expect.stringMatching(/shop\/web/u) }]);
    }
  });

  test("PR-05: a pod whose sandbox was made again is asked from the new one, and the earlier ones are no other pods", async () => {
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.23.0.0/24" }]] };
    manifests.network("remade", [{ type: "bridge", bridge: "br-remade", isGateway: true, ipam }]);
    for (const sandbox of ["one", "two", "three"]) {
      const pod = await attached("remade", {}, "remade", `remade-${sandbox}`);
      if (sandbox !== "three") pod.dispose();
    }
    expect(await probed("shop/remade", "remade")).toEqual(["gateway 10.23.0.1 answers 1500"]);
  });
});
