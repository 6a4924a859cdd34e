// Calls of the real IPAM plugin whereabouts, as a main plugin such as macvlan executes it.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whereaboutsBinary } from "./whereabouts-binary.ts";

/** A pod whose attachment gets an address. Its container has the id `c-NAME`. */
export interface WhereaboutsPod {
  readonly namespace: string;
  readonly name: string;
}

/** The outcome of a call. */
export interface WhereaboutsAnswer {
  readonly status: number | null;
  /** The addresses of an ADD, without prefix length. */
  readonly addresses: readonly string[];
  /** stdout and stderr. */
  readonly output: string;
}

/** whereabouts as it is installed on a node. */
export interface Whereabouts {
  /** Executes the plugin for a pod's interface net1. `ipam`: keys of the IPAM configuration besides those of the installation. */
  call(verb: "ADD" | "DEL", pod: WhereaboutsPod, ipam: object): Promise<WhereaboutsAnswer>;
  /** The log of all calls for a pod so far. */
  log(pod: WhereaboutsPod): string;
  dispose(): void;
}

/** Installs whereabouts for the cluster of a kubeconfig. Throws without the binary. */
export function installWhereabouts(kubeconfig: string): Whereabouts {
  const program = whereaboutsBinary();
  if (program === undefined) throw new Error("no whereabouts");
  const directory = mkdtempSync(join(tmpdir(), "plexus-whereabouts-"));
  const configuration = join(directory, "whereabouts.conf");
  writeFileSync(configuration, JSON.stringify({ datastore: "kubernetes", kubernetes: { kubeconfig } }));
  const logOf = ({ namespace, name }: WhereaboutsPod): string => join(directory, `${namespace}-${name}.log`);
  return {
    call(verb, pod, ipam) {
      const installed = { configuration_path: configuration, log_file: logOf(pod), log_level: "debug" };
      const stdin = JSON.stringify({
        cniVersion: "1.0.0",
        name: "storage",
        type: "macvlan",
        ipam: { ...ipam, type: "whereabouts", ...installed },
      });
      const child = spawn(program, [], {
        env: {
          CNI_COMMAND: verb,
          CNI_CONTAINERID: `c-${pod.name}`,
          CNI_NETNS: "/run/netns/none",
          CNI_IFNAME: "net1",
          CNI_PATH: directory,
          CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name}`,
          NODENAME: "node",
          PATH: "/usr/bin:/bin",
        },
      });
      let output = "";
      let stdout = "";
      child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => void (output += chunk.toString()));
      child.stdin.end(stdin);
      return new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (status) => {
          const found = status === 0 ? stdout.matchAll(/"address":\s*"([^"/]+)/gu) : [];
          resolve({ status, addresses: [...found].map(([, address = ""]) => address), output: stdout + output });
        });
      });
    },
    log(pod) {
      try {
        return readFileSync(logOf(pod), "utf8");
      } catch {
        return "";
      }
    },
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
}
