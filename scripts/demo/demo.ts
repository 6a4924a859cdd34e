// `npm run demo` attaches two pods in their own network namespaces to a default network and two secondary networks. Only the API server is
// simulated, by a directory of manifests. The first run's chains mix native binaries and WASM components. The second run uses components
// only and counts every executed program. `--mixed` and `--wasm-only` select one run. `--picture FILE` draws the first report of one pod.

import { cpSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compiledPlugin } from "../../test/lab/compiled.ts";
import { createPodNamespace, filesBelow, hostLinks, inHost, leases, type PodNamespace } from "../../test/lab/namespaces.ts";
import { dist, type Installation, type InstallationInit, installPlexus } from "../../test/lab/plexus.ts";
import { nativePlugins, wasmOnlyDelegates } from "../../test/lab/wasm-only.ts";
import { demoConfiguration, type DemoPaths, wasmOnlyConfiguration } from "./configuration.ts";
import { terminalPicture } from "./picture.ts";
import { type Report, showReport } from "./report.ts";
import { readSteps } from "./steps.ts";

/** The pods of the manifests. */
const pods = [
  { name: "web", uid: "11111111-1111-1111-1111-111111111111" },
  { name: "database", uid: "22222222-2222-2222-2222-222222222222" },
] as const;

/** The bridges that the demo's configurations name. */
const demoBridges: ReadonlySet<string> = new Set(["plexus0", "storage0", "uplink0"]);

interface Variant {
  readonly title: string;
  readonly installed: InstallationInit;
  readonly manifests: string;
  readonly configuration: (paths: DemoPaths) => object;
  /** Whether the run counts executed programs. */
  readonly countsPrograms: boolean;
}

const mixed: Variant = {
  title: "Native plugins and components in the same chains",
  installed: { native: ["bridge", "ptp", "tuning"], components: ["ipam-host-local", "status-shaper"] },
  manifests: "manifests",
  configuration: demoConfiguration,
  countsPrograms: false,
};
const wasmOnly: Variant = {
  title: "Components alone: no native plugin is installed",
  installed: { components: [...wasmOnlyDelegates, "status-shaper", "tuning"] },
  manifests: "manifests-wasm-only",
  configuration: wasmOnlyConfiguration,
  countsPrograms: true,
};

const flag = { type: "boolean", default: false } as const;
const { values } = parseArgs({ options: { json: flag, mixed: flag, "wasm-only": flag, picture: { type: "string" } } });
const both = values.mixed === values["wasm-only"];
const variants = [...(both || values.mixed ? [mixed] : []), ...(both || values["wasm-only"] ? [wasmOnly] : [])];
const reports: Report[] = [];
for (const variant of variants) {
  const report = await run(variant);
  reports.push(report);
  if (!values.json) process.stdout.write(showReport(report));
}
if (values.json) process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`);
if (values.picture !== undefined && reports[0] !== undefined) {
  writeFileSync(values.picture, terminalPicture("npm run demo", showReport(onlyPod(reports[0], "web"))));
}
process.exitCode = reports.every(({ ok }) => ok) ? 0 : 1;

/** The report of one pod only, so that a picture fits on a page. */
function onlyPod(report: Report, pod: string): Report {
  return {
    ...report,
    pods: report.pods.filter(({ name }) => name === pod),
    steps: report.steps.filter((step) => step.containerId === `demo-${pod}` && step.verb !== "CHECK"),
  };
}

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
  const paths = { manifests, state: plexus.state("cni"), run: plexus.state("run"), leases: plexus.state("leases") };
  const config = variant.configuration({ ...paths, trace: join(plexus.directory, "trace") });
  const faults: string[] = [];
  const starts = join(plexus.directory, "starts");
  const counting = variant.countsPrograms ? { through: [compiledPlugin("starts"), starts] } : {};
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
    leases: leases(paths.leases),
    journal: [...filesBelow(join(paths.state, "journal")), ...filesBelow(join(paths.state, "results"))],
  };
  const executed = variant.countsPrograms ? executedBy(plexus, starts) : undefined;
  // DEL leaves bridges on purpose: other pods may use them.
  const bridges = left.hostLinks.filter((name) => demoBridges.has(name));
  for (const bridge of bridges) inHost(["ip", "link", "delete", bridge]);
  const nothingLeft = Object.values(left).flat().length === bridges.length;
  const trace = join(plexus.directory, "trace");
  // No trace exists if every call failed before its first step. Then `faults` has the reasons.
  const steps = existsSync(trace) ? readSteps(trace) : [];
  const noOtherPrograms = executed === undefined || (executed.others.length === 0 && steps.every(({ kind }) => kind === "wasm"));
  return {
    title: variant.title,
    ok: faults.length === 0 && nothingLeft && noOtherPrograms && pings.length > 0 && pings.every((ping) => ping.answered),
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
    left: { ...left, hostLinks: left.hostLinks.filter((name) => !demoBridges.has(name)) },
    bridges,
    faults,
  };
}

/** Counts the programs that served the runtime's calls: the shim, Node, the sandbox's launcher, and unexpected others. */
function executedBy(plexus: Installation, starts: string): NonNullable<Report["executed"]> {
  const programs = readFileSync(starts, "utf8").split("\n").slice(0, -1);
  const shim = join(plexus.cniPath, "plexus");
  const node = realpathSync(process.execPath);
  const launcher = realpathSync(join(dist, "bin", "plexus-sandbox"));
  const count = (program: string): number => programs.filter((each) => each === program).length;
  const own = [shim, node, launcher];
  const others = programs.filter((each) => !own.includes(each));
  return {
    plexus: count(shim),
    node: count(node),
    sandboxes: count(launcher),
    others: [...others, ...nativePlugins(plexus.cniPath)],
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
