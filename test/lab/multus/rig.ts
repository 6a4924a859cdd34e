// A node with Multus' configuration: recorders instead of plugins, and a directory of manifests instead of the API. The
// rig calls the built binary as a runtime does.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { callBinary, installPlexus, type Answer, type Installation } from "../plexus.ts";
import { callsInOrder, installRecorder, type RecordedCall, type RecorderPlugin } from "../recorder.ts";

export interface Pod {
  readonly namespace: string;
  readonly name: string;
}

export interface CallOptions {
  readonly pod?: Pod;
  readonly containerId?: string;
  /** Further pairs of CNI_ARGS, each with a leading ";". */
  readonly args?: string;
  readonly cniPath?: string;
  /** The network namespace's path. Recorders ignore it, Multus opens it. */
  readonly netns?: string;
  readonly as?: string;
  readonly deadlineMs?: number;
}

export interface Rig {
  readonly plexus: Installation;
  /** Returns a path below the installation and makes its directory. */
  path(name: string): string;
  /** Writes a file below the installation, a string unchanged and any other value as JSON. Returns its path. */
  file(name: string, content: unknown): string;
  /** A recorder of the CNI_PATH. */
  plugin(name: string): RecorderPlugin;
  definition(namespace: string, name: string, config?: unknown): void;
  pod(pod: Pod, annotations?: Readonly<Record<string, string>>): void;
  /** A configuration with this rig's directories, overridden by `more`. */
  config(more: object): Record<string, unknown>;
  call(verb: string, config: unknown, options?: CallOptions): Promise<Answer>;
  /** As `call`, but fails the test with the plugin's error if the call fails. */
  succeed(verb: string, config: unknown, options?: CallOptions): Promise<Answer>;
  /** Calls of all recorders since the last `seen` or `calls`, as `VERB type ifname`. */
  seen(): readonly string[];
  /** Calls of all recorders since the last `seen` or `calls`, with arguments, environment and stdin. */
  calls(): readonly RecordedCall[];
  /** A pod's network status; undefined if none was written. */
  status(pod: Pod): readonly Readonly<Record<string, unknown>>[] | undefined;
  dispose(): void;
}

export const web: Pod = { namespace: "shop", name: "web" };

/** Calls a program of the installation as a runtime does. */
function callAs(
  plexus: Installation,
  verb: string,
  config: unknown,
  {
    pod = web,
    containerId = "ctr-1",
    args = "",
    netns = "/var/run/netns/none",
    cniPath,
    as = "plexus",
    deadlineMs,
  }: CallOptions = {},
): Promise<Answer> {
  const uid = args.includes("K8S_POD_UID=") ? "" : `;K8S_POD_UID=uid-${pod.name}`;
  return callBinary(
    join(plexus.cniPath, as),
    {
      verb,
      config,
      containerId,
      netns,
      ifname: "eth0",
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name}${uid}${args}`,
      ...(cniPath === undefined ? {} : { cniPath }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    },
    plexus.cniPath,
  );
}

function statusIn(manifests: string, { namespace, name }: Pod): ReturnType<Rig["status"]> {
  try {
    return JSON.parse(readFileSync(join(manifests, "status", `${namespace}.${name}.json`), "utf8"));
  } catch {
    return undefined;
  }
}

export function openRig(...plugins: readonly string[]): Rig {
  const plexus = installPlexus();
  const recorders = plugins.map((name) => installRecorder(plexus.cniPath, name));
  const manifests = plexus.state("manifests");
  const path = (name: string): string => {
    const whole = join(plexus.directory, name);
    mkdirSync(join(whole, ".."), { recursive: true });
    return whole;
  };
  const file = (name: string, content: unknown): string => {
    const whole = path(name);
    writeFileSync(whole, typeof content === "string" ? content : JSON.stringify(content));
    return whole;
  };
  const calls = (): readonly RecordedCall[] => {
    const all = callsInOrder(recorders);
    for (const recorder of recorders) recorder.clear();
    return all;
  };
  const call: Rig["call"] = (verb, config, options) => callAs(plexus, verb, config, options);
  return {
    plexus,
    path,
    file,
    plugin(name) {
      const found = recorders.find((each) => each.name === name);
      if (found === undefined) throw new Error(`no recorder ${name}`);
      return found;
    },
    definition(namespace, name, config) {
      const spec = config === undefined ? {} : { spec: { config: JSON.stringify(config) } };
      const metadata = { namespace, name };
      file(join("state", "manifests", `nad-${namespace}-${name}.json`), {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata,
        ...spec,
      });
    },
    pod({ namespace, name }, annotations = {}) {
      const metadata = { namespace, name, uid: `uid-${name}`, annotations };
      file(join("state", "manifests", `pod-${namespace}-${name}.json`), { apiVersion: "v1", kind: "Pod", metadata });
    },
    config: (more) => ({
      cniVersion: "1.0.0",
      name: "multus-cni-network",
      type: "plexus",
      cniDir: plexus.state("cni"),
      // These tests are about other parts: test/hostile/attacker/definition-author.long.test.ts is about the policy.
      definitions: { trusted: ["*"] },
      runDir: join(plexus.directory, "run"),
      confDir: plexus.state("conf"),
      multusCniDir: plexus.state("multus"),
      manifests,
      ...more,
    }),
    call,
    async succeed(verb, config, options) {
      const answer = await call(verb, config, options);
      expect({ status: answer.status, error: answer.status === 0 ? "" : answer.stdout }).toEqual({ status: 0, error: "" });
      return answer;
    },
    calls,
    seen: () => calls().map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin.split("/").at(-1)} ${env["CNI_IFNAME"]}`),
    status: (pod) => statusIn(manifests, pod),
    dispose: () => plexus.dispose(),
  };
}

/** The stdin of a recorder's call, parsed. */
export function stdinOf(call: RecordedCall | undefined): Record<string, unknown> {
  return JSON.parse(call?.stdin ?? "null");
}
