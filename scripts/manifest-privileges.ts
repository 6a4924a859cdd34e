// The privileges that a rendered manifest asks for. `node scripts/manifest-privileges.ts FILE` prints them as JSON, for docs/reference/comparison.json.

import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

/** The rights of the pods of a manifest's DaemonSets, which run on each node. */
export interface Privileges {
  /** Names of privileged containers. */
  readonly privileged: readonly string[];
  /** Capabilities of the other containers, sorted. */
  readonly capabilities: readonly string[];
  /** Namespaces of the node: network, PID, IPC. */
  readonly hostNamespaces: readonly string[];
  /** Directories and files of the node that a container can write. */
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Rights in the API that change something, as `VERBS RESOURCE`. */
  readonly changes: readonly string[];
  /** Resources that can be read; `in NAMESPACE` if in one namespace only. */
  readonly reads: readonly string[];
  /** Other workloads of the manifest, such as an operator. */
  readonly further: readonly string[];
}

interface Mount {
  readonly name: string;
  readonly readOnly?: boolean;
}
interface Container {
  readonly name: string;
  readonly securityContext?: { readonly privileged?: boolean; readonly capabilities?: { readonly add?: readonly string[] } };
  readonly volumeMounts?: readonly Mount[];
}
interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly serviceAccountName?: string;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}
interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  /** The namespace of a Role; undefined for a ClusterRole. */
  readonly namespace?: string | undefined;
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly template?: { readonly spec?: PodSpec } };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

const workloads: readonly string[] = ["Deployment", "StatefulSet", "Job", "CronJob"];
const readVerbs: readonly string[] = ["get", "list", "watch"];

/** The privileges of a manifest's text. */
export function privilegesOf(text: string): Privileges {
  const objects = parseAllDocuments(text).flatMap((document): readonly Manifest[] => {
    const object: Manifest | null = document.toJS();
    return object === null ? [] : [object];
  });
  const pods = objects.flatMap(({ kind, spec }) => (kind === "DaemonSet" ? (spec?.template?.spec ?? []) : []));
  const containers = pods.flatMap((pod) => [...(pod.initContainers ?? []), ...pod.containers]);
  const writable = pods.flatMap((pod) => pathsOf(pod, true));
  const rules = rulesOf(objects, new Set(pods.map(({ serviceAccountName = "default" }) => serviceAccountName)));
  return {
    privileged: containers.filter(isPrivileged).map(({ name }) => name),
    capabilities: unique(containers.flatMap(({ securityContext }) => securityContext?.capabilities?.add ?? [])),
    hostNamespaces: unique(
      pods.flatMap((pod) => [
        ...(pod.hostNetwork === true ? ["network"] : []),
        ...(pod.hostPID === true ? ["PID"] : []),
        ...(pod.hostIPC === true ? ["IPC"] : []),
      ]),
    ),
    writable: unique(writable),
    readOnly: unique(pods.flatMap((pod) => pathsOf(pod, false))).filter((path) => !writable.includes(path)),
    changes: rightsOf(rules, (verb) => !readVerbs.includes(verb)),
    reads: unique(
      rules.flatMap((rule) => (rule.verbs.some((verb) => verb === "*" || readVerbs.includes(verb)) ? namesOf(rule) : [])),
    ),
    further: objects.flatMap(({ kind, metadata }) => (workloads.includes(kind) ? [`${kind} ${metadata.name}`] : [])),
  };
}

const isPrivileged = ({ securityContext }: Container): boolean => securityContext?.privileged === true;

const unique = (all: readonly string[]): readonly string[] => [...new Set(all)].toSorted();

/** Paths of the node that containers of the pod mount writable, or else read-only. */
function pathsOf({ initContainers = [], containers, volumes = [] }: PodSpec, isWritable: boolean): readonly string[] {
  const mounts = [...initContainers, ...containers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  return volumes.flatMap(({ name, hostPath }) => {
    const isMounted = mounts.some((mount) => mount.name === name && (mount.readOnly === true) !== isWritable);
    return hostPath === undefined || !isMounted ? [] : [hostPath.path];
  });
}

/** Rules of the roles that are bound to one of the service accounts. */
function rulesOf(objects: readonly Manifest[], accounts: ReadonlySet<string>): readonly Rule[] {
  const bound = objects.flatMap(({ subjects = [], roleRef }) =>
    subjects.some(({ kind, name }) => kind === "ServiceAccount" && accounts.has(name)) && roleRef !== undefined ? [roleRef] : [],
  );
  return objects.flatMap(({ kind, metadata, rules = [] }) =>
    bound.some((role) => role.kind === kind && role.name === metadata.name)
      ? rules.map((rule) => ({ ...rule, namespace: kind === "Role" ? metadata.namespace : undefined }))
      : [],
  );
}

function namesOf({ apiGroups = [], resources = [], namespace }: Rule): readonly string[] {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  return resources.flatMap((resource) => apiGroups.map((group) => `${resource}${group === "" ? "" : `.${group}`}${where}`));
}

function rightsOf(rules: readonly Rule[], isWanted: (verb: string) => boolean): readonly string[] {
  const verbs = new Map<string, readonly string[]>();
  for (const rule of rules) {
    const wanted = rule.verbs.filter(isWanted);
    if (wanted.length === 0) continue;
    for (const name of namesOf(rule)) verbs.set(name, unique([...(verbs.get(name) ?? []), ...wanted]));
  }
  return [...verbs].map(([name, each]) => `${each.join(", ")} ${name}`).toSorted();
}

if (import.meta.main) {
  const [file = ""] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(privilegesOf(readFileSync(file, "utf8")), undefined, 2)}\n`);
}
