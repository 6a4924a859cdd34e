// The kubeconfigs of an administrator, as kubectl finds them: the list in KUBECONFIG, or ~/.kube/config.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type KubeconfigFile, mergeKubeconfigs } from "../../../../src/kube/merge-kubeconfigs.ts";
import {
  type CredentialSource,
  credentialsIn,
  kubeconfigCredentials,
  type KubeconfigRules,
  parseKubeconfig,
} from "../../../cluster/kube/credentials.ts";

/** The paths to read, the first one first. Empty: there is none. */
export function kubeconfigsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length === 0) return [join(homedir(), ".kube", "config")].filter((path) => existsSync(path));
  // kubectl skips the files that are absent. The message about the only one names it.
  const present = listed.filter((path) => existsSync(path));
  return present.length === 0 ? listed.slice(0, 1) : present;
}

/** The credentials in these kubeconfigs, merged. Each use reads them again. */
export function mergedCredentials(paths: readonly string[], rules: KubeconfigRules): CredentialSource {
  const [only, ...others] = paths;
  if (only !== undefined && others.length === 0) return kubeconfigCredentials(only, rules);
  return async () => {
    const files: KubeconfigFile[] = [];
    for (const path of paths) {
      const value = await parseKubeconfig(path, rules.note);
      if (!value.ok) return value;
      files.push({ directory: resolve(dirname(path)), value: value.value });
    }
    return credentialsIn(mergeKubeconfigs(files), paths.join(delimiter), rules);
  };
}
