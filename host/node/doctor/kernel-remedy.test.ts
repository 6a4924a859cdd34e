import { expect, test } from "vitest";
import { kernelRemedy } from "./kernel-remedy.ts";

const usual = {
  statusSocket: "/run/plexus/status.sock",
  stateDir: "/var/lib/cni/plexus",
  config: "/etc/cni/net.d",
  cniPath: "/opt/cni/bin",
};

test.each([
  [{}, usual, "Run as root on the node, not in a container: plexusctl doctor"],
  [
    { NODE_NAME: "worker-1", PLEXUS_NODE_HOME: "/opt/plexus", KUBERNETES_SERVICE_HOST: "10.0.0.1" },
    usual,
    "Run as root on node worker-1: /opt/plexus/bin/plexusctl doctor",
  ],
  [
    { NODE_NAME: "worker-1", PLEXUS_NODE_HOME: "/var/plexus" },
    { ...usual, config: "/etc/cni/other.d", cniPath: "/one:/other" },
    "Run as root on node worker-1: /var/plexus/bin/plexusctl doctor --config /etc/cni/other.d --cni-path /one:/other",
  ],
  [
    { NODE_NAME: "worker-1", KUBERNETES_SERVICE_HOST: "10.0.0.1" },
    { ...usual, stateDir: "/state", statusSocket: "/s" },
    "Run as root on node worker-1, with plexusctl of the release's archive, because this installation puts no programs on the node: plexusctl doctor --status-socket /s --state-dir /state",
  ],
])("E-20: a probe that is refused a network namespace names the node's command: %j", (variables, places, remedy) => {
  expect(kernelRemedy(variables, places)).toBe(remedy);
});
