// Thick Multus' daemon, as its DaemonSet runs it, but without chroot and verbose logs, which would slow it down. It runs in
// private namespaces and finds its service account below /var/run, as in a pod.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { ApiException, type KubernetesObject } from "@kubernetes/client-node";
import { multusBinary } from "./multus-binary.ts";
import { adminClient } from "../kube/admin.ts";
import { apiAddress } from "../kube/address.ts";
import type { ApiServer } from "../kube/api-server.ts";
import { requirePrivateNamespaces } from "../namespaces.ts";
import type { Installation } from "../plexus.ts";

const account = "multus";
const accountDirectory = "/run/secrets/kubernetes.io/serviceaccount";
const startsWithinMs = 60_000;

export interface ThickMultus {
  readonly pid: number;
  /** The configuration of Multus' shim with the default network inline. */
  readonly config: object;
  /** The daemon's own configuration. */
  readonly daemonConfig: object;
  stop(): Promise<void>;
  /** Stops the daemon as the kubelet does: it removes 00-multus.conf. Resolves with its exit status. */
  terminate(): Promise<unknown>;
}

/** The reason why a daemon cannot find the benchmark's service account; undefined if it can. */
export function missingServiceAccount(): string | undefined {
  return realpathSync("/var/run") === "/run" ? undefined : "/var/run is not /run, which is private here";
}

/** Where a daemon works. */
interface ThickMultusInit {
  /** The runtime's directory, which has the default network already. Default: a directory of its own. */
  readonly configurations?: string;
  /** Multus' state directory. */
  readonly cniDir?: string;
}

/** The token of a service account with all rights, because these rows do not measure authorization. */
async function tokenOf(api: ApiServer): Promise<string> {
  const metadata = { name: account, namespace: "kube-system" };
  const absent = async (object: KubernetesObject): Promise<void> => {
    await api.admin.create(object).catch((error: unknown) => {
      if (!(error instanceof ApiException) || error.code !== 409) throw error;
    });
  };
  await absent({ apiVersion: "v1", kind: "ServiceAccount", metadata });
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  };
  await absent(binding);
  const body = { spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600 } };
  const { core } = adminClient(api.adminKubeconfig);
  return (await core.createNamespacedServiceAccountToken({ ...metadata, body })).status?.token ?? "";
}

function spawnDaemon(daemon: string, configFile: string, logFile: string, apiPort: number) {
  const log = openSync(logFile, "a");
  const env = {
    PATH: process.env["PATH"] ?? "",
    KUBERNETES_SERVICE_HOST: apiAddress,
    KUBERNETES_SERVICE_PORT: String(apiPort),
    MULTUS_NODE_NAME: "node",
  };
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", daemon, "-config", configFile], {
    stdio: ["ignore", log, log],
    env,
  });
  closeSync(log);
  return child;
}

/** Starts the daemon with this default network, and installs the shim beside Plexus. */
export async function startThickMultus(
  api: ApiServer,
  plexus: Installation,
  defaultNetwork: object,
  init: ThickMultusInit = {},
): Promise<ThickMultus> {
  requirePrivateNamespaces();
  const [shim, daemon] = [multusBinary("multus-shim"), multusBinary("multus-daemon")];
  if (shim === undefined || daemon === undefined) throw new Error("thick Multus is missing: see multus-binary.ts");
  copyFileSync(shim, join(plexus.cniPath, "multus-shim"));
  mkdirSync(accountDirectory, { recursive: true });
  writeFileSync(join(accountDirectory, "token"), await tokenOf(api), { mode: 0o600 });
  copyFileSync(api.authority.certificate, join(accountDirectory, "ca.crt"));
  const configurations = init.configurations ?? plexus.state("multus-net.d");
  if (init.configurations === undefined)
    writeFileSync(join(configurations, "10-default.conflist"), JSON.stringify(defaultNetwork));
  const socketDir = join(plexus.directory, "multus-run");
  const configFile = join(plexus.directory, "multus-daemon.json");
  const config = {
    cniVersion: "1.0.0",
    logLevel: "error",
    logToStderr: true,
    cniConfigDir: configurations,
    multusAutoconfigDir: configurations,
    multusConfigFile: "auto",
    socketDir,
    daemonSocketDir: socketDir,
    cniDir: init.cniDir ?? plexus.state("multus-thick"),
    binDir: plexus.cniPath,
  };
  writeFileSync(configFile, JSON.stringify(config));
  const logFile = join(plexus.directory, "multus-daemon.log");
  const child = spawnDaemon(daemon, configFile, logFile, api.port);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(accountDirectory, { recursive: true, force: true });
  };
  const terminate = async (): Promise<unknown> => {
    child.kill("SIGTERM");
    const [status] = await ended;
    return status;
  };
  const generated = join(configurations, "00-multus.conf");
  const deadline = Date.now() + startsWithinMs;
  let generatedConfig = objectIn(generated);
  while (generatedConfig === undefined || !(await listens(join(socketDir, "multus.sock")))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`multus-daemon did not start: ${readFileSync(logFile, "utf8").slice(-1000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    generatedConfig = objectIn(generated);
  }
  // The generated configuration names the list's file (clusterNetwork). For such a file Multus 4.3.0 keeps only the types of
  // the plugins until DEL. There host-local fails ("no IP ranges specified"), but Multus' shim reports success, so the
  // address stays reserved.
  const { clusterNetwork: _, ...written } = generatedConfig;
  return {
    pid: child.pid ?? 0,
    config: { ...written, delegates: [defaultNetwork], daemonSocketDir: socketDir },
    daemonConfig: config,
    stop,
    terminate,
  };
}

/** Whether a process listens on the socket. The socket's file exists a moment earlier, and a daemon that has ended may leave it. */
function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.once("error", () => resolve(false));
  });
}

/** The object in a file; undefined if the file is absent or incomplete, because Multus does not write it atomically. */
function objectIn(file: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
