// A real kube-apiserver with etcd for tests, inside the private namespaces that scripts/run.sh makes.
//
//     const skip = missing("my suite", privateNamespaces, kubeApi);  // for a suite's skipIf
//     const api = await startApiServer();                            // once, before all; RBAC on; deploy/crd.yaml and rbac.yaml applied
//     api.connect(stage.node);                                    // the node's namespace reaches the API server
//     const config = stage.network([...], { kubeconfig: api.plexus });
//     await api.network("shop", "storage", [{ type: "bridge", ... }]);
//     const pod = await api.pod("shop", "web", "storage");        // also makes the namespace
//     await stage.succeed("ADD", { config, args: pod.args, ... });
//     expect(await api.statusOf("shop", "web")).toMatchObject([...]);
//     await api.dispose();                                           // after all
//
// `api.admin` is the official client for all other requests. `api.stop()` and `api.start()` restart kube-apiserver: the objects stay
// in etcd, the address stays the same. The files of a vitest worker share one server (shared-api-server.ts), which takes 400 MB of memory.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { KubernetesObject, KubernetesObjectApi, V1Pod } from "@kubernetes/client-node";

import { inHost, requirePrivateNamespaces, type PodNamespace } from "../namespaces.ts";
import { apiAddress, apiLink } from "./address.ts";
import { adminClient, applyFile } from "./admin.ts";
import { type AuditEvent, auditPolicy, auditSize, readAudit } from "./audit.ts";
import { type Authority, makeAuthority, makeKeyPair } from "./certificates.ts";
import { etcdAndApi, type Processes } from "./processes.ts";
import { writeKubeconfig, type KubeconfigInit } from "./kubeconfig.ts";
import { root } from "../compiled.ts";

/** The user that deploy/rbac.yaml gives its rights to. */
export const plexusUser = "system:serviceaccount:kube-system:plexus";

export interface CreatedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** CNI_ARGS as container runtimes give them. */
  readonly args: string;
}

export interface ApiServer {
  /** `https://100.100.100.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** A temporary directory that `dispose` removes. */
  readonly directory: string;
  /** The certificate authority of the server and the users. */
  readonly authority: Authority;
  /** Path of a kubeconfig with all rights. */
  readonly adminKubeconfig: string;
  /** Path of a kubeconfig whose user has only the rights of deploy/rbac.yaml. */
  readonly plexus: string;
  /** The official client, with all rights: objects of any kind. */
  readonly admin: KubernetesObjectApi;
  /** Writes a kubeconfig for a user with a client certificate and answers its path. `more` overrides entries. */
  kubeconfig(user: string, groups?: readonly string[], more?: KubeconfigInit): string;
  /** Events of a pod as `type reason message`, in no order. */
  eventsOf(pod: CreatedPod): Promise<readonly string[]>;
  /** A token of Plexus' service account from the TokenRequest API. */
  token(): Promise<string>;
  /** Creates a pod on the node `node`, and its namespace if absent. A selection of objects is written as JSON. */
  pod(
    namespace: string,
    name: string,
    selection?: string | readonly object[],
    annotations?: Readonly<Record<string, string>>,
    node?: string,
  ): Promise<CreatedPod>;
  /** Deletes a pod without a grace period. */
  deletePod(namespace: string, name: string): Promise<void>;
  /** Creates or replaces a NetworkAttachmentDefinition, whose configuration has the same name, and its namespace if absent. */
  network(
    namespace: string,
    name: string,
    plugins: readonly object[],
    annotations?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Makes a namespace if absent. */
  namespace(name: string): Promise<void>;
  /** The parsed network-status annotation of a pod, or undefined if absent. */
  statusOf(namespace: string, name: string): Promise<unknown>;
  /** The server's finished requests of `user` (default: of all users), newest last. */
  audit(user?: string): readonly AuditEvent[];
  /** The CPU time of kube-apiserver since its start, in ms. */
  cpuMs(): number;
  /** Connects a network namespace to the server by a veth pair, whose inner end is `kube0`. The pair ends with the namespace. */
  connect(node: PodNamespace): void;
  /** Kills kube-apiserver: connections break and new connections are refused. etcd goes on. */
  stop(): Promise<void>;
  /** Starts kube-apiserver at the same address and waits until the server is ready. */
  start(): Promise<void>;
  /** Ends both servers. Throws if Plexus sent a request that no call and no watch needs (MO-27). */
  dispose(): Promise<void>;
}

/** The only API requests that calls of a runtime and a daemon's watches may send. */
const allowed = new Set([
  "get pods",
  "get network-attachment-definitions",
  "patch pods/status",
  "create events",
  ...["list", "watch"].flatMap((verb) => [`${verb} pods`, `${verb} network-attachment-definitions`]),
]);

/** Settings of a server. */
export interface ApiServerInit {
  /** Requests that a daemon of this suite may send besides those of calls and watches, as `verb resource`. */
  readonly alsoAllowed?: readonly string[];
}

/** The servers of a test: etcd and kube-apiserver, whatever file uses them. */
export interface RunningServers {
  /** The directory of their files. */
  readonly directory: string;
  readonly processes: Processes;
  readonly authority: Authority;
  /** Path of the audit log. */
  readonly audit: string;
  /** Path of a kubeconfig with all rights. */
  readonly adminKubeconfig: string;
  /** Ends both and removes their files. */
  dispose(): Promise<void>;
}

/** Starts etcd and kube-apiserver and applies deploy/crd.yaml and deploy/rbac.yaml. Resolves when the server is ready. */
export async function startApiServer(init: ApiServerInit = {}): Promise<ApiServer> {
  const servers = await startServers();
  return openServers(servers, init, servers.dispose);
}

/** Starts etcd and kube-apiserver and applies deploy/crd.yaml and deploy/rbac.yaml. Resolves when the server is ready. */
export async function startServers(): Promise<RunningServers> {
  requirePrivateNamespaces();
  const directory = mkdtempSync(join(tmpdir(), "plexus-kube-"));
  let processes: Processes | undefined;
  const dispose = async (): Promise<void> => {
    await processes?.dispose();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    inHost(["ip", "address", "replace", `${apiAddress}/32`, "dev", "lo"]);
    const authority = makeAuthority(join(directory, "pki"), "plexus test authority");
    const names = [`IP:${apiAddress}`, "IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc"];
    const serving = authority.issue("server", { commonName: "kube-apiserver", alternativeNames: names });
    const tokens = { key: join(directory, "pki", "tokens.key"), publicKey: join(directory, "pki", "tokens.pub") };
    makeKeyPair(tokens.key, tokens.publicKey);
    const audit = join(directory, "audit.log");
    processes = await etcdAndApi({
      directory,
      authority,
      serving,
      tokens,
      audit: { log: audit, policy: auditPolicy(directory, plexusUser) },
      // Pods then need no service account, which only a controller would create.
      flags: ["--disable-admission-plugins=ServiceAccount"],
    });
    const adminKubeconfig = writeKubeconfig(directory, { url: urlOf(processes), authority }, "admin", ["system:masters"], {});
    await processes.ready(adminKubeconfig);
    const { objects } = adminClient(adminKubeconfig);
    await applyFile(objects, join(root, "deploy", "crd.yaml"));
    await applyFile(objects, join(root, "deploy", "rbac.yaml"));
    await established(objects);
    return { directory, processes, authority, audit, adminKubeconfig, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const urlOf = ({ port }: Processes): string => `https://${apiAddress}:${port}`;

/** Writes and reads the objects that tests need. */
function objectsOf(
  objects: ReturnType<typeof adminClient>["objects"],
  core: ReturnType<typeof adminClient>["core"],
): Pick<ApiServer, "pod" | "deletePod" | "network" | "namespace" | "statusOf" | "eventsOf"> {
  const replace = async (object: KubernetesObject): Promise<void> => {
    await objects.delete(object).catch(absent);
    await objects.create(object);
  };
  const namespace = async (name: string): Promise<void> => {
    await objects.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }).catch(exists);
  };
  return {
    async pod(space, name, selection, more = {}, node = "node") {
      await namespace(space);
      const text = selection === undefined || typeof selection === "string" ? selection : JSON.stringify(selection);
      const annotations = { ...(text === undefined ? {} : { "k8s.v1.cni.cncf.io/networks": text }), ...more };
      const pod: V1Pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: space, annotations },
        spec: { containers: [{ name: "main", image: "none" }], nodeName: node, automountServiceAccountToken: false },
      };
      const created = await objects.create(pod);
      const uid = created.metadata?.uid ?? "";
      const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${space};K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=x;K8S_POD_UID=${uid}`;
      return { namespace: space, name, uid, args };
    },
    async deletePod(space, name) {
      await core.deleteNamespacedPod({ namespace: space, name, gracePeriodSeconds: 0 });
    },
    async network(space, name, plugins, annotations = {}) {
      await namespace(space);
      const definition: KubernetesObject & { readonly spec: object } = {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: { name, namespace: space, annotations: { ...annotations } },
        spec: { config: JSON.stringify({ cniVersion: "1.0.0", name, plugins }) },
      };
      await replace(definition);
    },
    namespace,
    async statusOf(space, name) {
      const pod = await core.readNamespacedPod({ namespace: space, name });
      const text = pod.metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"];
      return text === undefined ? undefined : JSON.parse(text);
    },
    async eventsOf({ namespace: space, uid }) {
      const events = { namespace: space, fieldSelector: `involvedObject.uid=${uid}` };
      const { items } = await core.listNamespacedEvent(events);
      return items.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    },
  };
}

/** Opens servers for one test file. `end` is called after the file's own files are removed. */
export function openServers(
  { processes, authority, audit }: RunningServers,
  { alsoAllowed = [] }: ApiServerInit,
  end: () => Promise<void>,
): ApiServer {
  const directory = mkdtempSync(join(tmpdir(), "plexus-kube-"));
  const url = urlOf(processes);
  const auditFrom = auditSize(audit);
  const kubeconfig = (user: string, groups: readonly string[] = [], more: KubeconfigInit = {}): string =>
    writeKubeconfig(directory, { url, authority }, user, groups, more);
  const adminKubeconfig = kubeconfig("admin", ["system:masters"]);
  const { objects, core } = adminClient(adminKubeconfig);
  const mayRequest = (request: string): boolean => allowed.has(request) || alsoAllowed.includes(request);
  return {
    url,
    port: processes.port,
    directory,
    authority,
    adminKubeconfig,
    plexus: kubeconfig(plexusUser, ["system:serviceaccounts", "system:serviceaccounts:kube-system"]),
    admin: objects,
    kubeconfig,
    async token() {
      const body = { spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600 } };
      const made = await core.createNamespacedServiceAccountToken({ namespace: "kube-system", name: "plexus", body });
      return made.status?.token ?? "";
    },
    ...objectsOf(objects, core),
    audit: (user) => readAudit(audit, auditFrom).filter((event) => user === undefined || event.user === user),
    cpuMs: () => processes.apiCpuMs(),
    connect: (node) => connect(node),
    stop: () => processes.stopApi(),
    async start() {
      await processes.startApi();
      await processes.ready(adminKubeconfig);
    },
    async dispose() {
      const excess = readAudit(audit, auditFrom).filter(
        (event) => event.agent === "plexus" && !mayRequest(`${event.verb} ${event.resource}`),
      );
      await end();
      rmSync(directory, { recursive: true, force: true });
      if (excess.length > 0)
        throw new Error(
          `MO-27: Plexus sent requests that its calls and watches do not need: ${JSON.stringify(excess.slice(0, 5))}`,
        );
    },
  };
}

/** Waits until the API serves NetworkAttachmentDefinitions: a new CustomResourceDefinition takes a moment. */
async function established(admin: KubernetesObjectApi): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await admin.list("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "default");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

let connected = 0;

/** Both ends have point-to-point addresses, so that the connection occupies no subnet of a test. */
function connect(node: PodNamespace): void {
  requirePrivateNamespaces();
  connected += 1;
  const outer = `k${process.pid.toString(36)}x${connected.toString(36)}`;
  const nodeAddress = `100.101.${(process.pid + (connected >> 8)) & 255}.${connected & 255}`;
  inHost(["ip", "link", "add", outer, "type", "veth", "peer", "name", apiLink, "netns", node.name]);
  inHost(["ip", "address", "add", apiAddress, "peer", `${nodeAddress}/32`, "dev", outer]);
  inHost(["ip", "link", "set", outer, "up"]);
  for (const command of [
    ["ip", "address", "add", nodeAddress, "peer", `${apiAddress}/32`, "dev", apiLink],
    ["ip", "link", "set", apiLink, "up"],
  ] as const) {
    const finished = node.exec([...command]);
    if (finished.status !== 0) throw new Error(`${command.join(" ")} in ${node.name}: ${finished.stderr}`);
  }
}

function statusCode(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

function absent(error: unknown): void {
  if (statusCode(error) !== 404) throw error;
}

function exists(error: unknown): void {
  if (statusCode(error) !== 409) throw error;
}
