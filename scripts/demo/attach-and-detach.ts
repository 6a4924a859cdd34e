// One run of the demo: times an ADD with and without the daemon, then attaches, checks and detaches both pods.

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, hostLinks, inHost, leases, type PodNamespace } from "../../test/lab/namespaces.ts";
import { dist } from "../../test/lab/plexus.ts";
import { nativePlugins } from "../../test/lab/wasm-only.ts";
import { type DemoNode, openNode, pods, type RecordedPart, socket, statusSocket, type Variant } from "./node.ts";
import { type AddTimes, type ExecutedPrograms, type Report } from "./report.ts";
import { readSteps, type Step } from "./steps.ts";

/** The bridges that the demo's configurations name. */
const demoBridges: ReadonlySet<string> = new Set(["plexus0", "storage0", "uplink0"]);

/** ADDs after the first. V8 compiles what they have in common while they run. */
const warmAdds = 20;

/** Runs a variant on a node of its own, which is removed in any case. */
export async function attachAndDetach(variant: Variant): Promise<Report> {
  const node = await openNode(variant);
  try {
    return await runOn(node, variant);
  } finally {
    await node.dispose();
  }
}

async function runOn(node: DemoNode, variant: Variant): Promise<Report> {
  const { namespaces, paths, calls } = node;
  const addTimes = await timeAdds(node);
  const firstShownStep = stepsOf(node).length;
  const callAll = async (verb: string): Promise<number[]> => {
    const times: number[] = [];
    for (const pod of pods) times.push(await node.call(verb, pod));
    return times;
  };

  const added = await callAll("ADD");
  const statuses = pods.map((pod) => readStatus(paths.manifests, pod.name));
  const attached = namespaces.map((namespace) => namespace.addresses().map(({ link, address }) => `${link} ${address}`));
  const pings = pingBoth(namespaces, statuses);
  const checked = await callAll("CHECK");
  const deleted = await callAll("DEL");
  const served = await node.servedByDaemon();
  await node.stopDaemon();

  const newLinks = hostLinks()
    .map((link) => link.name)
    .filter((name) => !node.linksBefore.has(name));
  // DEL leaves bridges on purpose: other pods may use them.
  const bridges = newLinks.filter((name) => demoBridges.has(name));
  for (const bridge of bridges) inHost(["ip", "link", "delete", bridge]);
  const steps = stepsOf(node);
  return {
    title: variant.title,
    addTimes,
    daemonCalls: { sent: calls.sent, served },
    pods: pods.map((pod, index) => ({
      name: pod.name,
      addMs: added[index] ?? 0,
      checkMs: checked[index] ?? 0,
      delMs: deleted[index] ?? 0,
      addresses: attached[index] ?? [],
      networkStatus: statuses[index] ?? [],
    })),
    steps: steps.slice(firstShownStep),
    ...(variant.recordsPrograms ? { executed: executedBy(node, steps) } : {}),
    pings,
    left: {
      podLinks: namespaces.flatMap((namespace) => namespace.links().map((link) => `${namespace.name}: ${link.name}`)),
      hostLinks: newLinks.filter((name) => !demoBridges.has(name)),
      leases: leases(paths.leases),
      journal: [...filesBelow(join(paths.state, "journal")), ...filesBelow(join(paths.state, "results"))],
      daemonSockets: [socket, statusSocket].filter((path) => existsSync(path)),
    },
    bridges,
    faults: calls.faults,
  };
}

/** Attaches and detaches one pod again and again, at last without a daemon. The daemon then detaches what the other engine attached. */
async function timeAdds(node: DemoNode): Promise<AddTimes> {
  const [pod] = pods;
  const attachOnce = async (engine: "daemon" | "without daemon"): Promise<number> => {
    const ms = await node.call("ADD", pod, engine);
    await node.call("DEL", pod);
    return ms;
  };
  const firstMs = await attachOnce("daemon");
  const warmMs: number[] = [];
  // After a failure, further calls would only repeat it.
  while (warmMs.length < warmAdds && node.calls.faults.length === 0) warmMs.push(await attachOnce("daemon"));
  return { pod: pod.name, firstMs, warmMs, withoutDaemonMs: await attachOnce("without daemon") };
}

/** The steps of all calls so far. No trace exists if every call failed before its first step; then the faults have the reasons. */
function stepsOf({ paths }: DemoNode): readonly Step[] {
  return existsSync(paths.trace) ? readSteps(paths.trace) : [];
}

/** Counts the programs that were executed: the shim, Node, the sandbox's launcher, and unexpected others. */
function executedBy(node: DemoNode, steps: readonly Step[]): ExecutedPrograms {
  const { cniPath } = node.plexus;
  const shim = join(cniPath, "plexus");
  const engine = realpathSync(process.execPath);
  const launcher = realpathSync(join(dist, "bin", "plexus-sandbox"));
  const own = [shim, engine, launcher];
  const programsOf = (part: RecordedPart): readonly string[] =>
    readFileSync(node.programsFile(part), "utf8").split("\n").slice(0, -1);
  const countsOf = (part: RecordedPart): ExecutedPrograms["calls"] => {
    const programs = programsOf(part);
    const count = (program: string): number => programs.filter((each) => each === program).length;
    return { plexus: count(shim), node: count(engine), sandboxes: count(launcher) };
  };
  const parts = ["daemon", "calls", "callWithoutDaemon"] as const;
  return {
    calls: countsOf("calls"),
    daemon: countsOf("daemon"),
    callWithoutDaemon: countsOf("callWithoutDaemon"),
    others: [...parts.flatMap(programsOf).filter((program) => !own.includes(program)), ...nativePlugins(cniPath)],
    nativeSteps: steps.filter(({ kind }) => kind !== "wasm").length,
  };
}

interface StatusEntry {
  readonly name: string;
  readonly interface?: string;
  readonly ips?: readonly string[];
}

function readStatus(manifests: string, pod: string): readonly StatusEntry[] {
  const text = filesBelow(join(manifests, "status")).find((file) => file.includes(`.${pod}.`));
  if (text === undefined) return [];
  const published: unknown = JSON.parse(readFileSync(join(manifests, "status", text), "utf8"));
  return Array.isArray(published) ? published : [];
}

/** Pings from the first pod every address of the second pod on the networks that both share. */
function pingBoth(namespaces: readonly PodNamespace[], statuses: readonly (readonly StatusEntry[])[]): Report["pings"] {
  const [from] = namespaces;
  const target = statuses[1] ?? [];
  return target
    .filter((entry) => entry.name === "pods" || entry.name === "shop/storage")
    .flatMap((entry) => (entry.ips ?? []).map((ip) => ({ network: entry.name, ip, answered: from?.ping(ip) ?? false })));
}
