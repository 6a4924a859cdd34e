// The chart, rendered by helm.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../compiled.ts";
import { helmBinary } from "./helm.ts";

export const chart = join(root, "deploy", "helm", "plexus");

/** A Kubernetes object of unknown kind. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm without a cluster. */
export function runHelm(...args: readonly string[]): Finished {
  const { status, stdout, stderr } = spawnSync(helmBinary() ?? "helm", args, {
    encoding: "utf8",
    maxBuffer: 16 << 20,
    // helm collects garbage less often, which takes a sixth of its CPU time off.
    env: { ...process.env, KUBECONFIG: "/dev/null", GOGC: "400" },
  });
  return { status, stdout, stderr };
}

/** The objects of a YAML text. */
export function objectsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object: Manifest | null = document.toJS();
    return object === null ? [] : [object];
  });
}

/** Rendered objects by arguments without files: reading the YAML takes half a second of CPU time. */
const rendered = new Map<string, readonly Manifest[]>();

/** The objects of the release `plexus` in the namespace kube-system, without hooks. Throws the error of helm. */
export function render(...args: readonly string[]): readonly Manifest[] {
  if (args.some((arg) => arg.includes("/") || arg.startsWith("-f"))) return renderAnew(args);
  const key = JSON.stringify(args);
  const objects = rendered.get(key) ?? renderAnew(args);
  rendered.set(key, objects);
  return objects;
}

function renderAnew(args: readonly string[]): readonly Manifest[] {
  const { status, stdout, stderr } = runHelm("template", "plexus", chart, "--namespace", "kube-system", "--no-hooks", ...args);
  if (status !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

/** The only object of a kind. */
export function theOnly(objects: readonly Manifest[], kind: string): Manifest {
  const [found, ...more] = objects.filter((object) => object.kind === kind);
  if (found === undefined || more.length > 0)
    throw new Error(`${more.length + (found === undefined ? 0 : 1)} objects of kind ${kind}`);
  return found;
}

/** The part of a pod's specification that tests look at. */
export interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly automountServiceAccountToken?: boolean;
  readonly priorityClassName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly tolerations: readonly object[];
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly resources: { readonly requests?: object; readonly limits?: Readonly<Record<string, string>> };
  readonly securityContext: Readonly<Record<string, unknown>> & {
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] };
  };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number; readonly host?: string };
}

export interface Volume {
  readonly name: string;
  readonly hostPath?: { readonly path: string; readonly type: string };
  readonly projected?: { readonly sources: readonly object[] };
  readonly configMap?: object;
  readonly secret?: object;
}

/** The pod of the DaemonSet. */
export function podOf(objects: readonly Manifest[]): PodSpec {
  const { spec } = theOnly(objects, "DaemonSet") as Manifest & {
    readonly spec: { readonly template: { readonly spec: PodSpec } };
  };
  return spec.template.spec;
}

/** A container of the DaemonSet's pod. */
export function containerOf(pod: PodSpec, name: string): Container {
  const found = [...pod.initContainers, ...pod.containers].find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}
