// `npm run demo`: two pods in network namespaces of their own, a default network and two secondaries through chains that mix
// native binaries and sandboxed components, everything real but the API server, for which a directory of manifests stands.

import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPodNamespace, filesBelow, hostLinks, inHost, leases, type PodNamespace } from "../harness/namespaces.ts";
import { type Installation, installPlexus } from "../harness/plexus.ts";
import { demoConfiguration } from "./configuration.ts";
import { type Report, showReport } from "./report.ts";
import { readSteps } from "./steps.ts";

/** The pods of the manifests. */
const pods = [
  { name: "web", uid: "11111111-1111-1111-1111-111111111111" },
  { name: "database", uid: "22222222-2222-2222-2222-222222222222" },
] as const;

/** The bridges that the demo's configurations name. */
const ownBridges: ReadonlySet<string> = new Set(["plexus0", "storage0"]);

const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const report = await run();
if (values.json) process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
else process.stdout.write(showReport(report));
process.exitCode = report.ok ? 0 : 1;

async function run(): Promise<Report> {
  const before = hostLinks();
  const plexus = installPlexus({ native: ["bridge", "ptp", "tuning"], components: ["ipam-host-local", "status-shaper"] });
  const namespaces = pods.map((pod) => createPodNamespace(pod.name.slice(0, 3)));
  try {
    return await attachAndDetach(
      plexus,
      namespaces,
      before.map((link) => link.name),
    );
  } finally {
    for (const namespace of namespaces) namespace.dispose();
    plexus.dispose();
  }
}

async function attachAndDetach(
  plexus: Installation,
  namespaces: readonly PodNamespace[],
  before: readonly string[],
): Promise<Report> {
  const manifests = join(plexus.directory, "manifests");
  cpSync(join(import.meta.dirname, "manifests"), manifests, { recursive: true });
  const places = { manifests, state: plexus.state("cni"), run: plexus.state("run"), leases: plexus.state("leases") };
  const config = demoConfiguration({ ...places, trace: join(plexus.directory, "trace") });
  const faults: string[] = [];
  const callAll = async (verb: string): Promise<number[]> => {
    const times: number[] = [];
    for (const [index, pod] of pods.entries()) {
      const answer = await plexus.call({
        verb,
        config,
        containerId: `demo-${pod.name}`,
        ifname: "eth0",
        netns: namespaces[index]?.path ?? "",
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod.name};K8S_POD_UID=${pod.uid}`,
      });
      if (answer.status !== 0) faults.push(`${verb} ${pod.name}: ${answer.stdout}${answer.stderr}`);
      times.push(answer.ms);
    }
    return times;
  };

  const added = await callAll("ADD");
  const statuses = pods.map((pod) => readStatus(manifests, pod.name));
  const attached = namespaces.map((namespace) => namespace.addresses().map(({ link, address }) => `${link} ${address}`));
  const pings = pingBoth(namespaces, statuses);
  const checked = await callAll("CHECK");
  const deleted = await callAll("DEL");

  const left = {
    podLinks: namespaces.flatMap((namespace) => namespace.links().map((link) => `${namespace.name}: ${link.name}`)),
    hostLinks: hostLinks()
      .map((link) => link.name)
      .filter((name) => !before.includes(name)),
    leases: leases(places.leases),
    journal: [...filesBelow(join(places.state, "journal")), ...filesBelow(join(places.state, "results"))],
  };
  // The reference bridge plugin leaves its bridges, on purpose: other pods may be on them.
  const bridges = left.hostLinks.filter((name) => ownBridges.has(name));
  for (const bridge of bridges) inHost(["ip", "link", "delete", bridge]);
  const nothingLeft = Object.values(left).flat().length === bridges.length;
  return {
    ok: faults.length === 0 && nothingLeft && pings.every((ping) => ping.answered),
    pods: pods.map((pod, index) => ({
      name: pod.name,
      addMs: added[index] ?? 0,
      checkMs: checked[index] ?? 0,
      delMs: deleted[index] ?? 0,
      addresses: attached[index] ?? [],
      networkStatus: statuses[index] ?? [],
    })),
    steps: readSteps(join(plexus.directory, "trace")),
    pings,
    left: { ...left, hostLinks: left.hostLinks.filter((name) => !ownBridges.has(name)) },
    bridges,
    faults,
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

/** From the first pod to every address that the second one has on a network that both share. */
function pingBoth(namespaces: readonly PodNamespace[], statuses: readonly (readonly StatusEntry[])[]): Report["pings"] {
  const [from] = namespaces;
  const target = statuses[1] ?? [];
  return target
    .filter((entry) => entry.name === "pods" || entry.name === "shop/storage")
    .flatMap((entry) => (entry.ips ?? []).map((ip) => ({ network: entry.name, ip, answered: from?.ping(ip) ?? false })));
}
