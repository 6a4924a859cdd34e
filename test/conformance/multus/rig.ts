// A node as Multus' users have it: recorders in the place of the plugins, a directory of manifests in the place of the API, and
// configurations handed to the built binary as a runtime does.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { callBinary, installPlexus, type Answer, type Installation } from "../../harness/plexus.ts";
import { callsInOrder, installRecorder, type RecordedCall, type RecorderPlugin } from "../../harness/recorder.ts";

export interface Pod {
  readonly namespace: string;
  readonly name: string;
}

export interface Calling {
  readonly pod?: Pod;
  readonly containerId?: string;
  /** Further pairs of CNI_ARGS, each with its ";" in front. */
  readonly args?: string;
  readonly cniPath?: string;
  /** Recorders never look at it, so none is needed; Multus does. */
  readonly netns?: string;
  readonly as?: string;
  readonly deadlineMs?: number;
}

export interface Rig {
  readonly plexus: Installation;
  /** A path below the installation; its directory is made. */
  path(name: string): string;
  /** Writes a file below the installation: text as it is, all else as JSON; answers its path. */
  file(name: string, content: unknown): string;
  /** A recorder of the CNI_PATH. */
  plugin(name: string): RecorderPlugin;
  definition(namespace: string, name: string, config?: unknown): void;
  pod(pod: Pod, annotations?: Readonly<Record<string, string>>): void;
  /** A configuration with directories of this rig; `more` over it. */
  config(more: object): Record<string, unknown>;
  call(verb: string, config: unknown, calling?: Calling): Promise<Answer>;
  /** As `call`; fails with the plugin's own words where it does. */
  succeed(verb: string, config: unknown, calling?: Calling): Promise<Answer>;
  /** Calls of all recorders since the last look, as `VERB type ifname`. */
  seen(): readonly string[];
  /** The same, whole. */
  calls(): readonly RecordedCall[];
  /** What was published for a pod; undefined where nothing was. */
  status(pod: Pod): readonly Readonly<Record<string, unknown>>[] | undefined;
  dispose(): void;
}

export const web: Pod = { namespace: "shop", name: "web" };

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
  const call = (verb: string, config: unknown, calling: Calling = {}): Promise<Answer> => {
    const {
      pod = web,
      containerId = "ctr-1",
      args = "",
      netns = "/var/run/netns/none",
      cniPath,
      as = "plexus",
      deadlineMs,
    } = calling;
    return callBinary(
      join(plexus.cniPath, as),
      {
        verb,
        config,
        containerId,
        netns,
        ifname: "eth0",
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name}${args.includes("K8S_POD_UID=") ? "" : `;K8S_POD_UID=uid-${pod.name}`}${args}`,
        ...(cniPath === undefined ? {} : { cniPath }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      },
      plexus.cniPath,
    );
  };
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
      runDir: join(plexus.directory, "run"),
      confDir: plexus.state("conf"),
      multusCniDir: plexus.state("multus"),
      manifests,
      ...more,
    }),
    call,
    async succeed(verb, config, calling) {
      const answer = await call(verb, config, calling);
      expect({ status: answer.status, error: answer.status === 0 ? "" : answer.stdout }).toEqual({ status: 0, error: "" });
      return answer;
    },
    calls,
    seen: () => calls().map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin.split("/").at(-1)} ${env["CNI_IFNAME"]}`),
    status({ namespace, name }) {
      try {
        return JSON.parse(readFileSync(join(manifests, "status", `${namespace}.${name}.json`), "utf8"));
      } catch {
        return undefined;
      }
    },
    dispose: () => plexus.dispose(),
  };
}

/** What one recorder was given on stdin. */
export function stdinOf(call: RecordedCall | undefined): Record<string, unknown> {
  return JSON.parse(call?.stdin ?? "null");
}
