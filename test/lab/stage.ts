// The environment of one end-to-end test: an installation, a node's namespace, pods, and directories of state and leases.

import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect } from "vitest";

import { isRecycledFile } from "../../host/store/files/recycled-files.ts";
import { isJsonObject } from "../../src/json/document.ts";
import { readSteps, type Step } from "../../scripts/demo/steps.ts";
import { apiLink } from "./kube/address.ts";
import { createPodNamespace, filesBelow, leases, type PodNamespace } from "./namespaces.ts";
import { installPlexus, type Answer, type Call, type Installation, type InstallationInit, type Serving } from "./plexus.ts";

/** The parameters of one attachment's calls. The stage adds the others. */
export interface Attaching {
  readonly config: object;
  readonly containerId: string;
  /** The namespace whose path is CNI_NETNS, or CNI_NETNS itself. */
  readonly pod: PodNamespace | string;
  readonly ifname?: string;
  readonly args?: string;
  readonly cniPath?: string;
}

/** Files that calls leave. After the DEL of every attachment all lists are empty. */
export interface LeftFiles {
  readonly leases: readonly string[];
  /** Journal, results, locks of containers. */
  readonly state: readonly string[];
  /** Directories of nested calls. The slots of one-shot engines stay beside them. */
  readonly run: readonly string[];
}

export interface Left extends LeftFiles {
  /** The node's links, without bridges, which the reference plugin leaves on purpose, and the link to the API server. */
  readonly links: readonly string[];
}

export const nothing: Left = { leases: [], state: [], run: [], links: [] };

export interface Stage {
  readonly plexus: Installation;
  /** The node's network namespace. Each stage has its own, so that concurrent stages do not interfere. */
  readonly node: PodNamespace;
  /** The default lease directory of WASM `ipam-host-local`, which tests also set as `dataDir` of native host-local. */
  readonly leases: string;
  /** `dataDir` of native tuning, which leaves a file there if the link is deleted before its DEL. */
  readonly tuning: string;
  /** Plexus' host configuration. The caller adds `delegates` or `clusterNetwork`. */
  host(more: object): object;
  /** A host configuration with one default network, `pods`, of these plugins. `more` has further keys; `cniVersion` also sets the network's. */
  network(plugins: readonly object[], more?: object): object;
  /** A new network namespace, which `dispose` deletes. */
  pod(): PodNamespace;
  /** The path of a script that enters the node's namespace and executes this binary under the same pid. */
  entrance(name?: string): string;
  /** Sends a call as a runtime on the node does. */
  request(call: Call): Promise<Answer>;
  /** Sends a call of an attachment. */
  call(verb: string, attaching: Attaching): Promise<Answer>;
  /** Sends a call and fails the test with the answer if the call fails or prints to stderr. */
  succeed(verb: string, attaching: Attaching): Promise<Answer>;
  /** The steps since the last call of this function, ordered by their ends. */
  steps(): readonly Step[];
  files(): LeftFiles;
  left(): Left;
  dispose(): void;
}

/** Whether a file of a state directory stays on purpose: the lock, a daemon's copies and records of components, its lists of lease directories and of unknown leases, addresses of other hosts, recycled files. */
export const isPermanent = (path: string): boolean =>
  path === "calls.lock" ||
  path === "lease-directories" ||
  path === "unknown-leases" ||
  /^(?:components|admitted|conflicts)\//.test(path) ||
  isRecycledFile(basename(path));

/** The node's links, without bridges and the connection to an API server. */
function leftLinks(node: PodNamespace): readonly string[] {
  const names = node.links().map((link) => link.name);
  return names.filter((name) => !name.startsWith("br") && name !== apiLink);
}

/** Opens a stage. All of its state lies below the installation's directory, which `dispose` removes. */
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
  let shownSteps = 0;
  const host = (more: object): object => ({
    cniVersion: "1.0.0",
    name: "cluster",
    type: "plexus",
    cniDir: directories.state,
    // These tests are about other parts: test/hostile/attacker/definition-author.long.test.ts is about the policy.
    definitions: { trusted: ["*"] },
    runDir: directories.run,
    trace,
    ...more,
    wasm: wasmFor(plexus.serving, "wasm" in more ? more.wasm : { grants: { "ipam-host-local": fullGrant(directories.leases) } }),
  });
  const files = (): LeftFiles => ({
    leases: leases(directories.leases),
    // Permanent files belong to the node, not to a container.
    state: filesBelow(directories.state).filter((path) => !isPermanent(path)),
    run: filesBelow(directories.run),
  });
  const request = (call: Call): Promise<Answer> => plexus.callThrough(entrance(call.as), call);
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
      const fresh = all.slice(shownSteps);
      shownSteps = all.length;
      return fresh;
    },
    files,
    left: () => ({ ...files(), links: leftLinks(node) }),
    dispose() {
      for (const pod of pods) pod.dispose();
      node.dispose();
      plexus.dispose();
    },
  };
}

/** The section `wasm` for one-shot engines that start no sandbox process, because a start for each component of each call takes long. */
function wasmFor(serving: Serving, wasm: unknown): unknown {
  if (!isJsonObject(wasm)) return wasm;
  // Emulation takes ten times the computing time, and the limits count it.
  const slow = process.env["PLEXUS_TEST_EMULATED"] === "1" ? { limits: { timeMs: 60_000, admissionMs: 60_000 } } : {};
  return { ...slow, ...(serving === "one-shot" ? { isolation: "in-process" } : {}), ...wasm };
}

/** Grants of all capabilities that `ipam-host-local` declares, with leases in this directory. */
export function fullGrant(leaseDirectory: string): object {
  return { log: {}, leases: { directories: [leaseDirectory] }, resolver: {} };
}

/** Steps as `VERB type kind`, followed by "nested" for a call of a plugin and by "failed". */
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
