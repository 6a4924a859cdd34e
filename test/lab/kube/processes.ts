// etcd and kube-apiserver as children of a test.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { cpuMsOf } from "../cpu-ms.ts";
import { apiServerBinary, etcdBinary } from "./binaries.ts";
import type { Authority, Certificate } from "./certificates.ts";
import { endChild, freePorts, hasEnded, lastLines, startChild } from "./child.ts";

export interface Processes {
  readonly port: number;
  /** etcd's URL for clients. */
  readonly store: string;
  /** The CPU time of kube-apiserver so far, in ms. */
  apiCpuMs(): number;
  /** Whether kube-apiserver runs. */
  apiRuns(): boolean;
  startApi(): Promise<void>;
  /** Stops both processes (SIGSTOP), so that they use no CPU time: some 1.2 % of a processor without a request. */
  pause(): void;
  /** Continues both. */
  resume(): void;
  stopApi(): Promise<void>;
  /** Waits for a success of /readyz. Throws with the end of the logs if a server ends first, and after two minutes. */
  ready(kubeconfig: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface ProcessesInit {
  readonly directory: string;
  readonly authority: Authority;
  readonly serving: Certificate;
  /** Paths of the keys that sign and check service account tokens. */
  readonly tokens: { readonly key: string; readonly publicKey: string };
  readonly audit: { readonly log: string; readonly policy: string };
  /** Further flags of kube-apiserver. */
  readonly flags: readonly string[];
}

const readyWithinMs = 120_000;

/** Starts etcd and kube-apiserver. Both end with this process, even after SIGKILL. */
export async function etcdAndApi(init: ProcessesInit): Promise<Processes> {
  const { directory } = init;
  const [api, etcd] = [apiServerBinary(), etcdBinary()];
  if (api === undefined || etcd === undefined) throw new Error("kube-apiserver or etcd is missing: see binaries.ts");
  mkdirSync(join(directory, "etcd"), { mode: 0o700 });
  const [clients = 0, peers = 0, port = 0] = await freePorts(3);
  const store = `http://127.0.0.1:${clients}`;
  const etcdArgs = [
    ["--data-dir", join(directory, "etcd"), "--unsafe-no-fsync", "--log-level=error"],
    ["--listen-client-urls", store, "--advertise-client-urls", store],
    ["--listen-peer-urls", `http://127.0.0.1:${peers}`, "--initial-advertise-peer-urls", `http://127.0.0.1:${peers}`],
    ["--initial-cluster", `default=http://127.0.0.1:${peers}`],
  ].flat();
  const etcdLog = join(directory, "etcd.log");
  const apiLog = join(directory, "kube-apiserver.log");
  const etcdChild = startChild(etcd, etcdArgs, etcdLog);
  let apiChild = startChild(api, apiArgs(init, store, port), apiLog);
  const log = (): string => `${lastLines(etcdLog)}\n${lastLines(apiLog)}`;
  return {
    port,
    store,
    apiCpuMs: () => cpuMsOf(apiChild.pid ?? 0),
    apiRuns: () => !hasEnded(apiChild),
    async startApi() {
      await endChild(apiChild);
      apiChild = startChild(api, apiArgs(init, store, port), apiLog);
    },
    pause() {
      for (const child of [apiChild, etcdChild]) child.kill("SIGSTOP");
    },
    resume() {
      // First the store, which answers the pings that kube-apiserver sends.
      for (const child of [etcdChild, apiChild]) child.kill("SIGCONT");
    },
    stopApi: () => endChild(apiChild),
    async ready(kubeconfig) {
      const { readyz } = await import("./readyz.ts");
      const deadline = Date.now() + readyWithinMs;
      while (!(await readyz(kubeconfig))) {
        if (hasEnded(apiChild) || hasEnded(etcdChild)) throw new Error(`the API server ended:\n${log()}`);
        if (Date.now() > deadline) throw new Error(`the API server was not ready within ${readyWithinMs} ms:\n${log()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async dispose() {
      await endChild(apiChild);
      await endChild(etcdChild);
    },
  };
}

function apiArgs({ authority, serving, tokens, audit, flags }: ProcessesInit, store: string, port: number): readonly string[] {
  return [
    `--etcd-servers=${store}`,
    `--secure-port=${port}`,
    "--bind-address=0.0.0.0",
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.96.0.0/24",
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    `--client-ca-file=${authority.certificate}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${tokens.publicKey}`,
    `--service-account-signing-key-file=${tokens.key}`,
    "--authorization-mode=Node,RBAC",
    `--audit-policy-file=${audit.policy}`,
    `--audit-log-path=${audit.log}`,
    "--profiling=false",
    ...flags,
  ];
}
