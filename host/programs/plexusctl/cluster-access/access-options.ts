// The options by which a command reaches a cluster's API: --kubeconfig and --in-cluster.

import type { OptionSpec } from "../../../../src/command-line/command-spec.ts";
import { type CommandLine, type CommandLineMistake, valueOf } from "../../../../src/command-line/read-command-line.ts";
import { readCredentialPlugin } from "../../../../src/kube/credential-plugin.ts";
import { type CredentialSource, kubeconfigCredentials, serviceAccountCredentials } from "../../../cluster/kube/credentials.ts";
import { inClusterServer } from "../../../cluster/kube/in-cluster.ts";
import { credentialPluginRunner } from "./run-credential-plugin.ts";

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

/** `--in-cluster` and `--kubeconfig`. */
export const accessOptions: readonly OptionSpec[] = [
  { name: "in-cluster", about: "uses the service account of this pod instead of a kubeconfig" },
  {
    name: "kubeconfig",
    value: "FILE",
    about: "the cluster and the credentials, by the file's current context",
    usual: "$KUBECONFIG",
    completes: "file",
  },
];

/** The credentials that the options name, or the mistake that they name none. */
export function credentialsOf(line: CommandLine): CredentialSource | CommandLineMistake {
  const kubeconfig = valueOf(line, "kubeconfig");
  if (line.flags.has("in-cluster")) {
    if (kubeconfig !== undefined) return { wrong: "--in-cluster: --kubeconfig is not possible with it" };
    const server = inClusterServer(process.env);
    return server === undefined
      ? { wrong: "--in-cluster needs a pod: KUBERNETES_SERVICE_HOST is not set" }
      : serviceAccountCredentials(serviceAccount, server);
  }
  const path = kubeconfig ?? process.env["KUBECONFIG"];
  if (path === undefined || path === "")
    return { wrong: "give --kubeconfig FILE, or set KUBECONFIG; in a pod, --in-cluster is possible" };
  return administratorCredentials(path);
}

/** The credentials of an administrator's kubeconfig, which may have a credential plugin. */
export function administratorCredentials(path: string): CredentialSource {
  return kubeconfigCredentials(path, { plugins: { read: readCredentialPlugin, run: credentialPluginRunner() } });
}
