// `npm run demo`: two pods in network namespaces of their own, a default network and two secondaries, everything real but the API
// server, for which a directory of manifests stands. Once through chains that mix native binaries and sandboxed components, and once
// through components alone: then every program that is executed is counted. `--mixed` and `--wasm-only` do the one or the other.

import { cpSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compiledPlugin } from "../harness/compiled.ts";
import { createPodNamespace, filesBelow, hostLinks, inHost, leases, type PodNamespace } from "../harness/namespaces.ts";
import { type Installation, type InstallationInit, installPlexus } from "../harness/plexus.ts";
import { nativePlugins, wasmOnlyDelegates } from "../harness/wasm-only.ts";
import { demoConfiguration, type DemoPlaces, wasmOnlyConfiguration } from "./configuration.ts";
import { type Report, showReport } from "./report.ts";
import { readSteps } from "./steps.ts";

/** The pods of the manifests. */
const pods = [
  { name: "web", uid: "11111111-1111-1111-1111-111111111111" },
  { name: "database", uid: "22222222-2222-2222-2222-222222222222" },
] as const;

/** The bridges that the demo's configurations name. */
const ownBridges: ReadonlySet<string> = new Set(["plexus0", "storage0", "uplink0"]);

interface Variant {
  readonly title: string;
  readonly installed: InstallationInit;
  readonly manifests: string;
  readonly configuration: (places: DemoPlaces) => object;
  /** Whether it is counted what is executed. */
  readonly counted: boolean;
}

const mixed: Variant = {
  title: "Native plugins and components in the same chains",
  installed: { native: ["bridge", "ptp", "tuning"], components: ["ipam-host-local", "status-shaper"] },
  manifests: "manifests",
  configuration: demoConfiguration,
  counted: false,
};
const wasmOnly: Variant = {
  title: "Components alone: no native plugin is installed",
  installed: { components: [...wasmOnlyDelegates, "status-shaper", "tuning"] },
  manifests: "manifests-wasm-only",
  configuration: wasmOnlyConfiguration,
  counted: true,
};

const flag = { type: "boolean", default: false } as const;
const { values } = parseArgs({ options: { json: flag, mixed: flag, "wasm-only": flag } });
const every = values.mixed === values["wasm-only"];
const variants = [...(every || values.mixed ? [mixed] : []), ...(every || values["wasm-only"] ? [wasmOnly] : [])];
const reports: Report[] = [];
for (const variant of variants) {
  const report = await run(variant);
  reports.push(report);
  if (!values.json) process.stdout.write(showReport(report));
}
if (values.json) process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`);
process.exitCode = reports.every(({ ok }) => ok) ? 0 : 1;

async function run(variant: Variant): Promise<Report> {
  const before = hostLinks();
  const plexus = installPlexus(variant.installed);
  const namespaces = pods.map((pod) => createPodNamespace(pod.name.slice(0, 3)));
  try {
    return await attachAndDetach(
      variant,
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
  variant: Variant,
  plexus: Installation,
  namespaces: readonly PodNamespace[],
  before: readonly string[],
): Promise<Report> {
  const manifests = join(plexus.directory, "manifests");
  cpSync(join(import.meta.dirname, variant.manifests), manifests, { recursive: true });
  const places = { manifests, state: plexus.state("cni"), run: plexus.state("run"), leases: plexus.state("leases") };
  const config = variant.configuration({ ...places, trace: join(plexus.directory, "trace") });
  const faults: string[] = [];
  const starts = join(plexus.directory, "starts");
  const counting = variant.counted ? { through: [compiledPlugin("starts"), starts] } : {};
  const callAll = async (verb: string): Promise<number[]> => {
    const times: number[] = [];
    for (const [index, pod] of pods.entries()) {
      const answer = await plexus.call({
        verb,
        config,
        ...counting,
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
  const executed = variant.counted ? executedBy(plexus, starts) : undefined;
  // A bridge stays, on purpose: other pods may be on it.
  const bridges = left.hostLinks.filter((name) => ownBridges.has(name));
  for (const bridge of bridges) inHost(["ip", "link", "delete", bridge]);
  const nothingLeft = Object.values(left).flat().length === bridges.length;
  const trace = join(plexus.directory, "trace");
  // Where every call failed before its first step there is none, and the faults say why.
  const steps = existsSync(trace) ? readSteps(trace) : [];
  const onlyOurs = executed === undefined || (executed.others.length === 0 && steps.every(({ kind }) => kind === "wasm"));
  return {
    title: variant.title,
    ok: faults.length === 0 && nothingLeft && onlyOurs && pings.length > 0 && pings.every((ping) => ping.answered),
    pods: pods.map((pod, index) => ({
      name: pod.name,
      addMs: added[index] ?? 0,
      checkMs: checked[index] ?? 0,
      delMs: deleted[index] ?? 0,
      addresses: attached[index] ?? [],
      networkStatus: statuses[index] ?? [],
    })),
    steps,
    ...(executed === undefined ? {} : { executed }),
    pings,
    left: { ...left, hostLinks: left.hostLinks.filter((name) => !ownBridges.has(name)) },
    bridges,
    faults,
  };
}

/** Programs that were executed while the runtime's calls were served: the hands, Node, and what should not be there. */
function executedBy(plexus: Installation, starts: string): NonNullable<Report["executed"]> {
  const programs = readFileSync(starts, "utf8").split("\n").slice(0, -1);
  const hands = join(plexus.cniPath, "plexus");
  const node = realpathSync(process.execPath);
  const count = (program: string): number => programs.filter((each) => each === program).length;
  const others = programs.filter((each) => each !== hands && each !== node);
  return { plexus: count(hands), node: count(node), others: [...others, ...nativePlugins(plexus.cniPath)] };
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
