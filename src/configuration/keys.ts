// The keys of the host configuration: all of them, those that a configuration file may have, and how a key in another case is
// read. Go's JSON decoder accepts keys in any case, so Multus does too, and its users' files rely on it.

import { type JsonObjectDocument, memberText } from "../json/document.ts";
import { omittedStepsKey } from "./default-network-steps.ts";
import { idleMultusKeys } from "./multus-keys.ts";

/**
 * Keys that only the CNI configuration may have: a DEL needs them even if the file is lost, or the runtime or the shim reads
 * them.
 */
export const cniConfigurationOnly: readonly string[] = ["binDir", "cniDir", "configFile", "runDir"];

/** Keys that only a runtime sets, on stdin. */
export const runtimeKeys: readonly string[] = [
  "args",
  "runtimeConfig",
  "prevResult",
  "cni.dev/valid-attachments",
  "cni.dev/attachments",
];

/** Prefix of the CNI specification's own keys. */
export const specificationPrefix = "cni.dev/";

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
  "retired",
  omittedStepsKey,
  "namespaceIsolation",
  "globalNamespaces",
  "podNetworks",
  "hotPlug",
  "externalPorts",
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
  "chainTrace",
  "stepTimeoutMs",
  "goMaxProcs",
  "callTimeoutMs",
  "profile",
  "invalidAnnotation",
  "del",
  "check",
  "gc",
  "bounds",
  "steps",
  "wasm",
  "definitions",
  ...Object.keys(idleMultusKeys),
];

const byLowerCase: ReadonlyMap<string, string> = new Map(knownKeys.map((key) => [key.toLowerCase(), key]));

/** A document's members under their canonical keys. */
export interface SpelledKeys {
  /** JSON text by the key's canonical spelling. */
  readonly members: ReadonlyMap<string, string>;
  /** One sentence for each key that was written in another case. */
  readonly notices: readonly string[];
}

/** The document's members. A known key in another case gets its canonical spelling, unless the document has that as well. */
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
