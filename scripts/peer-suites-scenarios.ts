// Tests of peers that are scripts for a cluster or for a container engine, and the tests of this repository that play the same scenarios.

/** A scenario of a peer. */
export interface Scenario {
  readonly peer: string;
  /** The peer's file, or its command. */
  readonly source: string;
  readonly scenario: string;
  /** The test that plays the scenario, with the beginning of its title. */
  readonly file: string;
  readonly title: string;
  /** The test's differences, with their reasons. */
  readonly remark?: string;
}

/** The release and the folder of Multus' scenarios. Its continuous integration runs them with kind. */
export const multusScenarios = { release: "v4.3.0", folder: "e2e" } as const;

const ours = "test/cluster/multus-scenarios.test.ts";
const podman = "test/node/runtimes/podman.long.test.ts";

/** All scenarios, by peer. */
export const scenarios: readonly Scenario[] = [
  {
    peer: "Multus",
    source: "test-simple-pod.sh",
    scenario: "a pod without an annotation",
    file: ours,
    title: "FI-27 test-simple-pod.sh",
  },
  {
    peer: "Multus",
    source: "test-simple-macvlan1.sh",
    scenario: "macvlan with static addresses and tuning on two nodes",
    file: ours,
    title: "FI-27 test-simple-macvlan1.sh",
    remark: "The pods also reach each other, which the peer's script does not look at.",
  },
  {
    peer: "Multus",
    source: "test-static-pod.sh",
    scenario: "a static pod with a network",
    file: ours,
    title: "FI-27 test-static-pod.sh",
  },
  {
    peer: "Multus",
    source: "test-default-route1.sh",
    scenario: "a default route through a further network, and a pod beside without one",
    file: ours,
    title: "FI-27 test-default-route1.sh",
    remark: "The peer's script prints a wrong route and passes; the test fails.",
  },
  {
    peer: "Multus",
    source: "test-connection-limit.sh",
    scenario: "six pods of one Deployment at once",
    file: ours,
    title: "FI-27 test-connection-limit.sh",
  },
  {
    peer: "Multus",
    source: "test-subdirectory-chaining.sh",
    scenario: "a plugin of the directory with the default network's name",
    file: ours,
    title: "FI-27 test-subdirectory-chaining.sh",
  },
  {
    peer: "Multus",
    source: "test-subdirectory-chaining-passthru.sh",
    scenario: "a plugin of the directory `auxiliaryCNIChainName`",
    file: ours,
    title: "FI-27 test-subdirectory-chaining-passthru.sh",
  },
  {
    peer: "Multus",
    source: "test-dra-integration.sh",
    scenario: "a network with the device of a resource claim",
    file: "test/cluster/resource-claims.test.ts",
    title: "MA-05: two networks get the two devices",
    remark: "The peer's continuous integration leaves the script out.",
  },
  {
    peer: "Multus",
    source: "test-node-density-cni.sh",
    scenario: "64 pods on a node, with their latencies",
    file: "test/api/crowd.long.test.ts",
    title: "ADD and DEL of ",
    remark: "On one API server without a kubelet; the latencies are rows of the benchmark.",
  },
  {
    peer: "podman",
    source: "podman run --publish",
    scenario: "one container on two networks that both get `portMappings`",
    file: podman,
    title: "the commands of ",
  },
  {
    peer: "podman",
    source: "podman network disconnect, podman network connect",
    scenario: "the mapping goes to the other network, and comes back",
    file: podman,
    title: "the commands of ",
  },
  {
    peer: "podman",
    source: "podman network reload",
    scenario: "the container keeps its addresses and its ports",
    file: podman,
    title: "the commands of ",
  },
];
