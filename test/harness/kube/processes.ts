// etcd and kube-apiserver as children of a test.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { apiServerBinary, etcdBinary } from "./binaries.ts";
import type { Authority, Certificate } from "./certificates.ts";

export interface Processes {
  readonly port: number;
  startApi(): Promise<void>;
  stopApi(): Promise<void>;
  /** Waits for a success of /readyz. Throws with the end of the logs if a server ends first, and after a minute. */
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
}

const readyWithinMs = 60_000;

/** Starts etcd and kube-apiserver. Both end with this process, even after SIGKILL. */
export async function etcdAndApi(init: ProcessesInit): Promise<Processes> {
  const { directory } = init;
  const [api, etcd] = [apiServerBinary(), etcdBinary()];
  if (api === undefined || etcd === undefined) throw new Error("kube-apiserver or etcd is missing: see binaries.ts");
  mkdirSync(join(directory, "etcd"), { mode: 0o700 });
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
  const store = `http://127.0.0.1:${clients}`;
  const etcdArgs = [
    ["--data-dir", join(directory, "etcd"), "--unsafe-no-fsync", "--log-level=error"],
    ["--listen-client-urls", store, "--advertise-client-urls", store],
    ["--listen-peer-urls", `http://127.0.0.1:${peers}`, "--initial-advertise-peer-urls", `http://127.0.0.1:${peers}`],
    ["--initial-cluster", `default=http://127.0.0.1:${peers}`],
  ].flat();
  const etcdLog = join(directory, "etcd.log");
  const apiLog = join(directory, "kube-apiserver.log");
  const etcdChild = start(etcd, etcdArgs, etcdLog);
  let apiChild = start(api, apiArgs(init, store, port), apiLog);
  const log = (): string => `${lastLines(etcdLog)}\n${lastLines(apiLog)}`;
  return {
    port,
    async startApi() {
      await end(apiChild);
      apiChild = start(api, apiArgs(init, store, port), apiLog);
    },
    stopApi: () => end(apiChild),
    async ready(kubeconfig) {
      const { readyz } = await import("./readyz.ts");
      const deadline = Date.now() + readyWithinMs;
      while (!(await readyz(kubeconfig))) {
        if (apiChild.exitCode !== null || etcdChild.exitCode !== null) throw new Error(`the API server ended:\n${log()}`);
        if (Date.now() > deadline) throw new Error(`the API server was not ready within ${readyWithinMs} ms:\n${log()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async dispose() {
      await end(apiChild);
      await end(etcdChild);
    },
  };
}

function apiArgs({ authority, serving, tokens, audit }: ProcessesInit, store: string, port: number): readonly string[] {
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
    // Pods then need no service account, which only a controller would create.
    "--disable-admission-plugins=ServiceAccount",
    `--audit-policy-file=${audit.policy}`,
    `--audit-log-path=${audit.log}`,
    "--profiling=false",
  ];
}

/** `setpriv` makes the kernel kill the child when this process ends, even after SIGKILL. */
function start(file: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", file, ...args], { stdio: ["ignore", output, output] });
  child.on("error", () => {
    // `ready` reports a program that could not be started.
  });
  closeSync(output);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

function lastLines(path: string): string {
  return readFileSync(path, "utf8").split("\n").slice(-15).join("\n");
}

/** A free port below the kernel's range of ephemeral ports, so that no connection takes the port while the server is stopped. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "0.0.0.0", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
