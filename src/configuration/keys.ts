// The keys of the host configuration: which there are, which of them a configuration file may have, and how a key in another
// case is understood. Go's JSON decoder takes keys in any case, so Multus does, and its users' files rely on it.

import { type JsonObjectDocument, memberText } from "../json/document.ts";
import { idleMultusKeys } from "./multus-keys.ts";

/** Keys that DEL must find whatever became of a file, or that the runtime or the hands read: only in the CNI configuration. */
export const cniConfigurationOnly: readonly string[] = ["binDir", "cniDir", "configFile", "runDir"];

/** Keys that only a runtime sets, on stdin. */
export const runtimeKeys: readonly string[] = [
  "args",
  "runtimeConfig",
  "prevResult",
  "cni.dev/valid-attachments",
  "cni.dev/attachments",
];

/** Every key of the configuration. */
export const knownKeys: readonly string[] = [
  "name",
  "type",
  "cniVersion",
  "capabilities",
  "disableCheck",
  "disableGC",
  ...cniConfigurationOnly,
  ...runtimeKeys,
  "clusterNetwork",
  "delegates",
  "defaultNetworks",
  "systemNamespaces",
  "multusNamespace",
  "namespaceIsolation",
  "globalNamespaces",
  "readinessindicatorfile",
  "readinessTimeoutMs",
  "readinessDelTimeoutMs",
  "auxiliaryCNIChainName",
  "confDir",
  "cniConf",
  "kubeconfig",
  "kubernetes",
  "manifests",
  "multusCniDir",
  "retryDeleteOnError",
  "legacyCniArgs",
  "logFile",
  "logLevel",
  "logToStderr",
  "trace",
  "stepTimeoutMs",
  "goMaxProcs",
  "callTimeoutMs",
  "profile",
  "invalidAnnotation",
  "del",
  "check",
  "gc",
  "wasm",
  ...Object.keys(idleMultusKeys),
];

const byLowerCase: ReadonlyMap<string, string> = new Map(knownKeys.map((key) => [key.toLowerCase(), key]));

export interface SpelledKeys {
  /** JSON text by the key's own spelling. */
  readonly members: ReadonlyMap<string, string>;
  /** One sentence for each key that stood in another case. */
  readonly notices: readonly string[];
}

/** The document's members; a key that is known in another case gets its own spelling, unless that is there too. */
export function spelledKeys(document: JsonObjectDocument): SpelledKeys {
  const members = new Map<string, string>();
  const notices: string[] = [];
  for (const key of document.members.keys()) {
    const meant = byLowerCase.get(key.toLowerCase());
    const moved = meant !== undefined && meant !== key && !document.members.has(meant) && !members.has(meant);
    if (moved) notices.push(`configuration: ${key} is read as ${meant}`);
    members.set(moved ? meant : key, memberText(document, key) ?? "null");
  }
  return { members, notices };
}
