// etcd, kube-apiserver, the scheduler and the controller manager of a cluster, in the tests' host namespace.

import { join } from "node:path";
import type { ChildProcess } from "node:child_process";

import { apiAddress } from "../kube/address.ts";
import { type AuditEvent, auditPolicy, readAudit } from "../kube/audit.ts";
import { kubeProgram, type KubeProgram } from "../kube/binaries.ts";
import { type Authority, makeAuthority, makeKeyPair } from "../kube/certificates.ts";
import { endChild, startChild } from "../kube/child.ts";
import { type KubeconfigInit, writeKubeconfig } from "../kube/kubeconfig.ts";
import { etcdAndApi } from "../kube/processes.ts";
import { inHost } from "../namespaces.ts";
import { serviceAddress } from "./network.ts";

export interface ControlPlane {
  readonly url: string;
  readonly port: number;
  readonly authority: Authority;
  /** Path of a kubeconfig with all rights. */
  readonly kubeconfig: string;
  /** Writes a kubeconfig for a user with a client certificate and answers its path. */
  kubeconfigOf(user: string, groups?: readonly string[], more?: KubeconfigInit): string;
  /** The API server's finished requests of `user` (default: of all users), newest last. */
  audit(user?: string): readonly AuditEvent[];
  /** Kills kube-apiserver. etcd, the scheduler and the controllers go on. */
  stopApi(): Promise<void>;
  /** Starts kube-apiserver at the same address and waits until it is ready. */
  startApi(): Promise<void>;
  dispose(): Promise<void>;
}

/** The user whose requests the audit log has with their bodies: the service account that Plexus' chart makes by default. */
const auditedUser = "system:serviceaccount:kube-system:plexus";

/** Starts the programs, whose files lie in `directory`. Resolves when the API server is ready. */
export async function startControlPlane(directory: string, apiFlags: readonly string[] = []): Promise<ControlPlane> {
  inHost(["ip", "address", "replace", `${apiAddress}/32`, "dev", "lo"]);
  const authority = makeAuthority(join(directory, "pki"), "plexus test authority");
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map((name) => `DNS:${name}`);
  const names = [`IP:${apiAddress}`, `IP:${serviceAddress}`, "IP:127.0.0.1", "DNS:localhost", ...service];
  const serving = authority.issue("server", { commonName: "kube-apiserver", alternativeNames: names });
  const tokens = { key: join(directory, "pki", "tokens.key"), publicKey: join(directory, "pki", "tokens.pub") };
  makeKeyPair(tokens.key, tokens.publicKey);
  const kubelets = authority.issue("kubelet-client", { commonName: "kube-apiserver-kubelet-client", groups: ["system:masters"] });
  const audit = join(directory, "audit.log");
  const processes = await etcdAndApi({
    directory,
    authority,
    serving,
    tokens,
    audit: { log: audit, policy: auditPolicy(directory, auditedUser) },
    flags: [
      "--allow-privileged=true",
      "--enable-admission-plugins=NodeRestriction",
      `--kubelet-client-certificate=${kubelets.certificate}`,
      `--kubelet-client-key=${kubelets.key}`,
      `--kubelet-certificate-authority=${authority.certificate}`,
      "--kubelet-preferred-address-types=InternalIP",
      ...apiFlags,
    ],
  });
  const url = `https://${apiAddress}:${processes.port}`;
  const kubeconfigOf: ControlPlane["kubeconfigOf"] = (user, groups = [], more = {}) =>
    writeKubeconfig(directory, { url, authority }, user, groups, more);
  const kubeconfig = kubeconfigOf("admin", ["system:masters"]);
  const children: ChildProcess[] = [];
  const start = (name: KubeProgram, user: string, more: readonly string[]): void => {
    const flags = [`--kubeconfig=${kubeconfigOf(user)}`, "--leader-elect=false", "--secure-port=0", "--profiling=false"];
    children.push(startChild(kubeProgram(name) ?? "", [...flags, ...more], join(directory, `${name}.log`)));
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(children.map((child) => endChild(child)));
    await processes.dispose();
  };
  try {
    await processes.ready(kubeconfig);
    start("kube-scheduler", "system:kube-scheduler", []);
    start("kube-controller-manager", "system:kube-controller-manager", [
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${tokens.key}`,
      `--root-ca-file=${authority.certificate}`,
      `--cluster-signing-cert-file=${authority.certificate}`,
      `--cluster-signing-key-file=${authority.key}`,
      "--allocate-node-cidrs=false",
    ]);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url,
    port: processes.port,
    authority,
    kubeconfig,
    kubeconfigOf,
    audit: (user) => readAudit(audit).filter((event) => user === undefined || event.user === user),
    stopApi: () => processes.stopApi(),
    async startApi() {
      await processes.startApi();
      await processes.ready(kubeconfig);
    },
    dispose,
  };
}
