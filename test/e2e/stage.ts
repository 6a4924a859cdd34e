// A stage for one test: an installation, pods, directories of its own for state and leases, and what is left in them.

import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect } from "vitest";

import { isSpare } from "../../host/files/spares.ts";
import { readSteps, type Step } from "../demo/steps.ts";
import { apiLink } from "../harness/kube/address.ts";
import { createPodNamespace, filesBelow, leases, type PodNamespace } from "../harness/namespaces.ts";
import {
  callBinary,
  installPlexus,
  type Answer,
  type Call,
  type Installation,
  type InstallationInit,
} from "../harness/plexus.ts";

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

/** Files that calls may leave: none once every attachment had its DEL. */
export interface LeftFiles {
  readonly leases: readonly string[];
  /** Journal, results, locks of containers. */
  readonly state: readonly string[];
  /** Directories of nested calls. */
  readonly run: readonly string[];
}

export interface Left extends LeftFiles {
  /** The node's links, without the bridges that the reference plugin leaves on purpose and the way to a test's API server. */
  readonly links: readonly string[];
}

export const nothing: Left = { leases: [], state: [], run: [], links: [] };

export interface Stage {
  readonly plexus: Installation;
  /** The node's network namespace: each stage has its own, so that stages side by side don't meet. */
  readonly node: PodNamespace;
  /** Where WASM `ipam-host-local` keeps leases by default; `dataDir` of native host-local, to share them. */
  readonly leases: string;
  /** `dataDir` for native tuning, which leaves a file there where the link is gone before its DEL. */
  readonly tuning: string;
  /** Plexus' own configuration; `delegates` or `clusterNetwork` is the caller's. */
  host(more: object): object;
  /** One default network, `pods`, with these plugins; `more` goes into Plexus' configuration and the network's. */
  network(plugins: readonly object[], more?: object): object;
  /** A new network namespace, which ends with the stage. */
  pod(): PodNamespace;
  /** A program that enters the node and becomes the binary of this name there, under the same pid. */
  entrance(name?: string): string;
  /** A call as a runtime on the node makes it. */
  request(call: Call): Promise<Answer>;
  /** A call for an attachment. */
  call(verb: string, attaching: Attaching): Promise<Answer>;
  /** As `call`, and fails with the plugin's own words where the plugin does. */
  succeed(verb: string, attaching: Attaching): Promise<Answer>;
  /** Every step that ran since the last look, in the order in which it ended. */
  steps(): readonly Step[];
  files(): LeftFiles;
  left(): Left;
  dispose(): void;
}

/** What stays for good below a state directory: a lock, and a daemon's copies of components and spare files. */
export const staysForGood = (path: string): boolean =>
  path === "calls.lock" || path.startsWith("components/") || isSpare(basename(path));

/** Opens a stage. All of its state lies below the installation's directory and goes with it. */
export function openStage(init: InstallationInit): Stage {
  const plexus = installPlexus(init);
  const node = createPodNamespace("node");
  const entrance = (name = "plexus"): string => entranceTo(node, plexus, name);
  const directories = {
    leases: plexus.state("leases"),
    state: plexus.state("cni"),
    run: join(plexus.directory, "run"),
    tuning: plexus.state("tuning"),
  };
  const trace = join(plexus.directory, "trace");
  const pods: PodNamespace[] = [];
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
  const files = (): LeftFiles => ({
    leases: leases(directories.leases),
    // It belongs to the node, not to a container.
    state: filesBelow(directories.state).filter((path) => !staysForGood(path)),
    run: filesBelow(directories.run),
  });
  const request = (call: Call): Promise<Answer> => callBinary(entrance(call.as), call, plexus.cniPath);
  const call = (verb: string, attaching: Attaching): Promise<Answer> => request(callOf(verb, attaching));
  return {
    plexus,
    node,
    tuning: directories.tuning,
    entrance,
    request,
    leases: directories.leases,
    host,
    network: (plugins, more = {}) =>
      host({ delegates: [{ cniVersion: "1.0.0", name: "pods", ...versionOf(more), plugins }], ...more }),
    pod() {
      const pod = createPodNamespace();
      pods.push(pod);
      return pod;
    },
    call,
    async succeed(verb, attaching) {
      const answer = await call(verb, attaching);
      const { status, stdout, stderr } = answer;
      expect({ status, error: status === 0 ? "" : stdout, stderr }).toEqual({ status: 0, error: "", stderr: "" });
      return answer;
    },
    steps() {
      const all = existsSync(trace) ? readSteps(trace) : [];
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
    files,
    left: () => ({
      ...files(),
      links: node
        .links()
        .map((link) => link.name)
        .filter((name) => !name.startsWith("br") && name !== apiLink),
    }),
    dispose() {
      for (const pod of pods) pod.dispose();
      node.dispose();
      plexus.dispose();
    },
  };
}

/** What `ipam-host-local` declares, with leases in this directory. */
export function fullGrant(leaseDirectory: string): object {
  return { log: {}, leases: { directories: [leaseDirectory] }, resolver: {} };
}

/** Steps as `VERB type kind`, with a mark where a native plugin made the call, or where it failed. */
export function shown(steps: readonly Step[]): readonly string[] {
  return steps.map(
    ({ verb, type, kind, nested, ok }) => `${verb} ${type} ${kind}${nested ? " nested" : ""}${ok ? "" : " failed"}`,
  );
}

function entranceTo(node: PodNamespace, plexus: Installation, name: string): string {
  const path = join(plexus.directory, `enter-${name}`);
  if (existsSync(path)) return path;
  writeFileSync(path, `#!/bin/sh\nexec nsenter --net=${node.path} -- ${join(plexus.cniPath, name)} "$@"\n`, { mode: 0o755 });
  return path;
}

function versionOf(more: object): object {
  return "cniVersion" in more ? { cniVersion: more.cniVersion } : {};
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
