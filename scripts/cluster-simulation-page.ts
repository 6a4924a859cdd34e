// Generates docs/reference/cluster-simulation.md from the recorded simulation (`npm run docs`). A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";

import type { PolicyWork, SelectedPods, SimulatedSize, Simulation } from "../bench/cluster-simulation/simulation.ts";

export const simulationPagePath = "docs/reference/cluster-simulation.md";
const recordPath = "docs/reference/cluster-simulation.json";

/** Growth between the first and the last size that counts as proportional to the nodes. */
const slack = 1.3;

/** How a figure grows between the smallest and the largest simulated cluster, in words. */
export function growthOf(sizes: readonly SimulatedSize[], of: (size: SimulatedSize) => number): string {
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (first === undefined || last === undefined || of(first) === 0) return "";
  const byNodes = last.nodes / first.nodes;
  const growth = of(last) / of(first);
  if (growth <= slack) return "constant";
  return growth <= byNodes * slack ? "with the nodes" : "**faster than the nodes**";
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const perNode =
  (of: (size: SimulatedSize) => number) =>
  (size: SimulatedSize): number =>
    of(size) / size.nodes;

interface Line {
  readonly title: string;
  readonly of: (size: SimulatedSize) => number;
  readonly text: (value: number) => string;
}

const seconds = (value: number): string => `${value.toFixed(1)} s`;
const kib = (value: number): string => `${(value / 1024).toFixed(0)} KiB`;
const mib = (value: number): string => `${(value / 2 ** 20).toFixed(2)} MiB`;

const lines: readonly Line[] = [
  { title: "watches that the API server holds", of: ({ watches }) => watches, text: whole },
  { title: "objects in the memory of one daemon", of: perNode(({ objects }) => objects), text: whole },
  { title: "restart of all daemons at once, until all watches are live", of: ({ restart }) => restart.seconds, text: seconds },
  { title: "lists of such a restart", of: ({ restart }) => restart.lists, text: whole },
  { title: "bytes of these lists", of: ({ restart }) => restart.listBytes, text: mib },
  { title: "bytes of these lists for one daemon", of: perNode(({ restart }) => restart.listBytes), text: mib },
  { title: "CPU time of the API server in such a restart", of: ({ restart }) => restart.cpuSeconds, text: seconds },
  { title: "requests that flow control refused meanwhile", of: ({ restart }) => restart.refused, text: whole },
  {
    title: "changes that daemons are told of, for each new pod",
    of: ({ newPods }) => newPods.events / newPods.count,
    text: (value) => value.toFixed(2),
  },
  { title: "new pods in a minute, as fast as the API server made them", of: ({ newPods }) => newPods.podsPerMinute, text: whole },
  {
    title: "events of a removal and a creation of a definition",
    of: ({ definitionChanges: { events, count } }) => events / count,
    text: whole,
  },
  {
    title: "all nodes claim two blocks of a /12 at once",
    of: ({ claims }) => claims.seconds,
    text: seconds,
  },
  {
    title: "requests for blocks meanwhile, for one node",
    of: perNode(({ claims }) => claims.requests + claims.lists),
    text: (value) => value.toFixed(2),
  },
  { title: "CPU time of the API server for these claims", of: ({ claims }) => claims.cpuSeconds, text: seconds },
  {
    title: "the daemons of all nodes start again: requests for their blocks, for one node",
    of: perNode(({ looks }) => looks.requests),
    text: (value) => value.toFixed(2),
  },
  { title: "lists of blocks meanwhile", of: ({ looks }) => looks.lists, text: whole },
  { title: "CPU time of the API server meanwhile", of: ({ looks }) => looks.cpuSeconds, text: seconds },
  {
    title: "each node searches once for blocks that it does not know: CPU time of the API server",
    of: ({ searches }) => searches.cpuSeconds,
    text: seconds,
  },
  { title: "lists and watches that began again, because this machine was too slow", of: ({ warnings }) => warnings, text: whole },
  { title: "resident memory of the API server", of: ({ serverRssMiB }) => serverRssMiB * 2 ** 20, text: mib },
];

/** The page of the committed simulation. */
export function simulationPage({ date, processors, sizes, policy }: Simulation = readSimulation()): string {
  const head = ["", ...sizes.map(({ nodes }) => `${whole(nodes)} nodes`), "grows"];
  const rows = lines.map(({ title, of, text }) => [title, ...sizes.map((size) => text(of(size))), growthOf(sizes, of)]);
  const [size] = sizes;
  return `# Clusters of many nodes

For: administrators of large clusters. \`bench/cluster-simulation/run.ts\` runs the daemons' own code for pods and definitions, without kernel and components, as many light clients of one
real API server and etcd. Measured ${date} on ${processors} shared processors, which API server, etcd and all clients have together: times are upper bounds, counts and bytes are exact.
Each cluster has ${size?.definitions ?? 0} definitions and ${((size?.pods ?? 0) / (size?.nodes ?? 1)).toFixed(0)} pods on a node. \`npm run docs\` makes this page.

| ${head.join(" | ")} |
|${head.map(() => "---").join("|")}|
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

- A daemon watches the pods of its own node only, so a new pod is told to one daemon. Nothing here grows by nodes times pods.
- Each daemon holds every definition, so a change of a definition is sent to each node, and a restart of all daemons lists all definitions once for each node: nodes times definitions.
- A node claims a block by one request, and reads its own blocks by their names when its daemon starts. So no start lists blocks, and the requests grow with the node's own blocks only.
- Once an hour, at a time of its own, each node searches for blocks that it does not know. The API server answers from its memory, where it looks at all blocks of the cluster: the CPU time of
  all searches of an hour grows with nodes times blocks, from the small figure of the table.
- From some 500 nodes on, the API server's flow control refuses lists while all daemons restart at once on these processors. Each refused daemon comes back after the pause that the server asks for,
  lengthened by a part of itself, so that not all come back at once. The table is from before this change.
- A node whose first blocks belong to others lists the pool's blocks, after 4 of them, and in a large pool after up to 32. So lists do not come with the number of nodes, but with a pool that is nearly full.
  The table is from before the 32: 1,000 nodes, which take half of the /12, made 183 lists of 11.2 MiB.
- A request for blocks is the same work in each size. The API server's CPU time also has the watches that begin again meanwhile, and its own work for more watches.
${policy === undefined ? "" : policyPart(policy)}`;
}

function policyPart({ pods, slices, bytes, maxBytes, made, added, restarted }: SelectedPods): string {
  const work = (what: string, { writes, seconds: duration, cpuSeconds }: PolicyWork): string =>
    `| ${what} | ${whole(writes)} | ${seconds(duration)} | ${seconds(cpuSeconds)} |`;
  return `
## A policy that selects ${whole(pods)} pods

\`bench/cluster-simulation/policy.ts\` makes a policy whose rule selects ${whole(pods)} pods of one namespace, with \`plexus-controller\` and the same API server. The controller writes
${whole(slices)} NetworkAddressSlices, ${kib(bytes)} as JSON together. Each daemon of a node with policies watches them, so each holds all of them. A change of one pod sends one slice of
${kib(maxBytes)} at most to each of these daemons: nodes times changes, and not nodes times pods.

| what happens | writes of slices | until all slices are right | CPU time of the API server |
|---|---|---|---|
${[work("the policy is made", made), work("one more pod", added), work("the controller starts again (15 s of the time are a pause)", restarted)].join("\n")}
`;
}

function readSimulation(): Simulation {
  return JSON.parse(readFileSync(recordPath, "utf8")) as Simulation;
}

if (import.meta.main) writeFileSync(simulationPagePath, simulationPage());
