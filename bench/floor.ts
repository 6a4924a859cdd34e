// The floor: floor.c does only the kernel work of bridge and host-local.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { builtOnce, root } from "../test/lab/compiled.ts";
import { hostLinks, inHost } from "../test/lab/namespaces.ts";
import { type BridgeNetwork, type Contender, leasesOf, leftOf, removeBridges } from "./contender.ts";
import type { LaneCall, PodNamespaces } from "./lanes.ts";

function compiled(): string {
  const source = join(root, "bench", "floor.c");
  return builtOnce("floor", [readFileSync(source, "utf8")], (output) => {
    const warnings = ["-Wall", "-Wextra", "-Werror"];
    execFileSync("cc", ["-std=c17", "-O2", "-static", ...warnings, "-o", output, source], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  });
}

function subnetOf({ subnet }: BridgeNetwork): readonly [address: string, prefix: string] {
  const [address = "", prefix = ""] = subnet.split("/");
  return [address, prefix];
}

/** Makes the bridge and the directory of leases, which floor.c expects. */
function prepare(network: BridgeNetwork): void {
  mkdirSync(leasesOf(network), { recursive: true });
  const { bridge, isDefault = true } = network;
  if (hostLinks().some(({ name }) => name === bridge)) return;
  inHost(["ip", "link", "add", bridge, "type", "bridge"]);
  const [address, prefix] = subnetOf(network);
  if (isDefault) inHost(["ip", "address", "add", `${address.replace(/\.0$/u, ".1")}/${prefix}`, "dev", bridge]);
  inHost(["ip", "link", "set", bridge, "up"]);
}

/** Calls floor.c, one network after the other, and makes missing bridges before. */
export function floorContender(pods: PodNamespaces, networks: readonly BridgeNetwork[]): Contender {
  const program = compiled();
  for (const network of networks) prepare(network);
  const calls = (command: string, pod: number): readonly LaneCall[] =>
    networks.map((network, index) => {
      const [address, prefix] = subnetOf(network);
      const env = {
        CNI_COMMAND: command,
        CNI_CONTAINERID: `floor-${pod}`,
        CNI_NETNS: pods.path(pod),
        CNI_IFNAME: index === 0 ? "eth0" : `net${index}`,
        FLOOR_BRIDGE: network.bridge,
        FLOOR_SUBNET: address,
        FLOOR_PREFIX: prefix,
        FLOOR_GATEWAY: network.isDefault === false ? "0" : "1",
        FLOOR_LEASES: leasesOf(network),
      };
      return { program, env, stdin: "" };
    });
  return {
    name: "floor",
    add: (pod) => calls("ADD", pod),
    del: (pod) => calls("DEL", pod).toReversed(),
    left: () => leftOf(networks, pods),
    dispose: () => removeBridges(networks),
  };
}
