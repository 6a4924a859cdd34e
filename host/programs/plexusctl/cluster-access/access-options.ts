// The options by which a command reaches a cluster's API: --kubeconfig and --in-cluster.

import { type CommandLine, type CommandLineMistake, valueOf } from "../../../../src/command-line/read-command-line.ts";
import { readCredentialPlugin } from "../../../../src/kube/credential-plugin.ts";
import {
  type CredentialSource,
  kubeconfigCredentials,
  type KubeconfigRules,
  serviceAccountCredentials,
} from "../../../cluster/kube/credentials.ts";
import { inClusterServer } from "../../../cluster/kube/in-cluster.ts";
import { kubeconfigsOf, mergedCredentials } from "./kubeconfig-files.ts";
import { credentialPluginRunner } from "./run-credential-plugin.ts";

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

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
  if (kubeconfig !== undefined) return administratorCredentials(kubeconfig);
  const found = kubeconfigsOf(process.env);
  if (found.length === 0)
    return { wrong: "give --kubeconfig FILE, set KUBECONFIG, or write ~/.kube/config; in a pod, --in-cluster is possible" };
  return mergedCredentials(found, administratorRules());
}

/** The credentials of an administrator's kubeconfig, which may have a credential plugin. */
export function administratorCredentials(path: string): CredentialSource {
  return kubeconfigCredentials(path, administratorRules());
}

function administratorRules(): KubeconfigRules {
  return { plugins: { read: readCredentialPlugin, run: credentialPluginRunner() } };
}
