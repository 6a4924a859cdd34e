// The demo's node: an installation, its daemon, and the calls that a container runtime would send.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { compiledPlugin } from "../../test/lab/compiled.ts";
import { startDaemon, type TestDaemon } from "../../test/lab/daemon.ts";
import { httpRequest } from "../../test/lab/http-request.ts";
import { createPodNamespace, hostLinks, type PodNamespace } from "../../test/lab/namespaces.ts";
import { type Installation, type InstallationInit, installPlexus } from "../../test/lab/plexus.ts";
import { readPrometheusText } from "../../test/lab/prometheus-text.ts";
import type { DemoPaths } from "./configuration.ts";

/** The pods of the manifests. */
export const pods = [
  { name: "web", uid: "11111111-1111-1111-1111-111111111111" },
  { name: "database", uid: "22222222-2222-2222-2222-222222222222" },
] as const;

export type DemoPod = (typeof pods)[number];

/** One of the demo's runs. */
export interface Variant {
  readonly title: string;
  readonly installed: InstallationInit;
  /** The directory of manifests beside this file. */
  readonly manifests: string;
  readonly configuration: (paths: DemoPaths) => object;
  /** Whether the run records executed programs, which makes the start of each program slower. */
  readonly recordsPrograms: boolean;
}

/** The daemon's default paths, where the shim looks for it without PLEXUS_SOCKET. The demo has a /run of its own. */
export const socket = "/run/plexus/plexus.sock";
export const statusSocket = "/run/plexus/status.sock";

/** The parts of a run whose executed programs are recorded apart. */
export type RecordedPart = "daemon" | "calls" | "callWithoutDaemon";

/** A node for one run. */
export interface DemoNode {
  readonly plexus: Installation;
  readonly paths: DemoPaths;
  /** A network namespace for each pod. */
  readonly namespaces: readonly PodNamespace[];
  /** Names of the node's links before the first call. */
  readonly linksBefore: ReadonlySet<string>;
  readonly calls: {
    /** Calls that were sent to the daemon. */
    sent: number;
    readonly faults: string[];
  };
  /** The file to which the executed programs of a part are written. */
  programsFile(part: RecordedPart): string;
  /** Sends a call as a runtime does, and answers its milliseconds. Only a call without a daemon does not use the daemon. */
  call(verb: string, pod: DemoPod, engine?: "daemon" | "without daemon"): Promise<number>;
  /** The daemon's own count of calls that it answered; 0 and a fault if the daemon is away. */
  servedByDaemon(): Promise<number>;
  stopDaemon(): Promise<void>;
  dispose(): Promise<void>;
}

function pathsOf(plexus: Installation): DemoPaths {
  return {
    manifests: join(plexus.directory, "manifests"),
    state: plexus.state("cni"),
    run: plexus.state("run"),
    leases: plexus.state("leases"),
    trace: join(plexus.directory, "trace"),
  };
}

/** A call of a runtime for a pod of the demo. */
function callFor(verb: string, pod: DemoPod, netns: string) {
  return {
    verb,
    containerId: `demo-${pod.name}`,
    ifname: "eth0",
    netns,
    args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod.name};K8S_POD_UID=${pod.uid}`,
  };
}

/** The daemon's own count of calls; the reason if the daemon is away. */
async function callsOfDaemon(): Promise<number | string> {
  const answer = await httpRequest(statusSocket, "/metrics").catch(String);
  if (typeof answer === "string") return answer;
  const families = readPrometheusText(answer.body);
  return families.get("plexus_calls_total")?.samples.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

/** Installs Plexus and starts plexusd. */
export async function openNode(variant: Variant): Promise<DemoNode> {
  const linksBefore = new Set(hostLinks().map(({ name }) => name));
  const plexus = installPlexus(variant.installed);
  const namespaces = pods.map((pod) => createPodNamespace(pod.name.slice(0, 3)));
  const paths = pathsOf(plexus);
  cpSync(join(import.meta.dirname, variant.manifests), paths.manifests, { recursive: true });
  const config = variant.configuration(paths);
  const programsFile = (part: RecordedPart): string => join(plexus.directory, `programs-${part}`);
  const recording = (part: RecordedPart): readonly string[] =>
    variant.recordsPrograms ? [compiledPlugin("starts"), programsFile(part)] : [];
  const calls: DemoNode["calls"] = { sent: 0, faults: [] };
  let daemon: TestDaemon | undefined;
  const stopDaemon = async (): Promise<void> => {
    if (daemon === undefined) return;
    // A daemon that has ended before gets no signal: ESRCH.
    const status = await daemon.stop().catch(String);
    if (status !== 0) calls.faults.push(`plexusd ended with status ${status}: ${daemon.stderr()}`);
    daemon = undefined;
  };
  const dispose = async (): Promise<void> => {
    await stopDaemon();
    for (const namespace of namespaces) namespace.dispose();
    plexus.dispose();
  };
  try {
    daemon = await startDaemon({
      socket,
      args: ["--state-dir", paths.state],
      // The daemon also ends if the demo is killed.
      through: ["setpriv", "--pdeathsig", "TERM"],
      parent: recording("daemon"),
    });
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    plexus,
    paths,
    namespaces,
    linksBefore,
    calls,
    programsFile,
    async call(verb, pod, engine = "daemon") {
      if (engine === "daemon") calls.sent++;
      const { status, stdout, stderr, ms } = await plexus.call({
        ...callFor(verb, pod, namespaces[pods.indexOf(pod)]?.path ?? ""),
        config,
        through: recording(engine === "daemon" ? "calls" : "callWithoutDaemon"),
        // No daemon has ever listened on this socket, so the shim starts a one-shot engine at once.
        ...(engine === "daemon" ? {} : { env: { PLEXUS_SOCKET: join(plexus.directory, "no-daemon.sock") } }),
      });
      if (status !== 0) calls.faults.push(`${verb} ${pod.name} (${engine}): ${stdout}${stderr}`);
      return ms;
    },
    async servedByDaemon() {
      const served = await callsOfDaemon();
      if (typeof served === "number") return served;
      calls.faults.push(`plexusd's metrics: ${served}`);
      return 0;
    },
    stopDaemon,
    dispose,
  };
}
