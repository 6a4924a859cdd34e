// A stage for one test: an installation, directories of its own for state and leases, and what is left in them.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { readSteps, type Step } from "../demo/steps.ts";
import { filesBelow, leases, type PodNamespace } from "../harness/namespaces.ts";
import { installPlexus, type Answer, type Call, type Installation, type InstallationInit } from "../harness/plexus.ts";

/** What one attachment is called with; the rest comes from the stage. */
export interface Attaching {
  readonly config: object;
  readonly containerId: string;
  /** Its path is CNI_NETNS; a text is taken as it is. */
  readonly pod: PodNamespace | string;
  readonly ifname?: string;
  readonly args?: string;
  readonly cniPath?: string;
}

/** All that calls may leave: empty once every attachment had its DEL. */
export interface Left {
  readonly leases: readonly string[];
  /** Journal, results, locks of containers. */
  readonly state: readonly string[];
  /** Directories of nested calls. */
  readonly run: readonly string[];
}

export interface Stage {
  readonly plexus: Installation;
  /** Where WASM `ipam-host-local` keeps leases by default; `dataDir` of native host-local, to share them. */
  readonly leases: string;
  /** Plexus' own configuration; `delegates` or `clusterNetwork` is the caller's. */
  host(more: object): object;
  /** One default network, `pods`, with these plugins. */
  network(plugins: readonly object[], more?: object): object;
  call(verb: string, attaching: Attaching): Promise<Answer>;
  /** Every step that ran since the last look, in the order in which it ended. */
  steps(): readonly Step[];
  left(): Left;
  dispose(): void;
}

export const nothing: Left = { leases: [], state: [], run: [] };

/** Opens a stage. State lies below the installation's directory and goes with it. */
export function openStage(init: InstallationInit): Stage {
  const plexus = installPlexus(init);
  const directories = { leases: plexus.state("leases"), state: plexus.state("cni"), run: join(plexus.directory, "run") };
  const trace = join(plexus.directory, "trace");
  let seen = 0;
  const host = (more: object): object => ({
    cniVersion: "1.0.0",
    name: "cluster",
    type: "plexus",
    cniDir: directories.state,
    runDir: directories.run,
    trace,
    wasm: { grants: { "ipam-host-local": fullGrant(directories.leases) } },
    ...more,
  });
  return {
    plexus,
    leases: directories.leases,
    host,
    network: (plugins, more = {}) => host({ delegates: [{ cniVersion: "1.0.0", name: "pods", plugins, ...more }], ...more }),
    call: (verb, attaching) => plexus.call(callOf(verb, attaching)),
    steps() {
      const all = existsSync(trace) ? readSteps(trace) : [];
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
    left: () => ({
      leases: leases(directories.leases),
      // GC's lock belongs to the node, not to a container.
      state: filesBelow(directories.state).filter((path) => path !== "locks/gc/lock"),
      run: filesBelow(directories.run),
    }),
    dispose: () => plexus.dispose(),
  };
}

/** What `ipam-host-local` declares, with leases in this directory. */
export function fullGrant(leaseDirectory: string): object {
  return { log: {}, leases: { directories: [leaseDirectory] }, resolver: {} };
}

function callOf(verb: string, { config, containerId, pod, ifname = "eth0", args, cniPath }: Attaching): Call {
  return {
    verb,
    config,
    containerId,
    ifname,
    netns: typeof pod === "string" ? pod : pod.path,
    ...(args === undefined ? {} : { args }),
    ...(cniPath === undefined ? {} : { cniPath }),
  };
}

/** A step as `verb type kind`, with a mark where a native plugin called it. */
export function shown(steps: readonly Step[]): readonly string[] {
  return steps.map(({ verb, type, kind, nested, ok }) => `${verb} ${type} ${kind}${nested ? " nested" : ""}${ok ? "" : " failed"}`);
}
