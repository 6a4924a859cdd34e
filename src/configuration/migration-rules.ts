// One rule for each key of Multus: the chart's value that means the same, or the reason why there is none. Some keys of Plexus'
// configuration are idle in a pod, because the pod mounts few of the node's directories.

import { daemonCounts } from "./daemon-counts.ts";
import { isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { MigrationDraft } from "./migration-draft.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { directoryOf } from "./multus-paths.ts";

/** Puts a key's meaning into the draft. Answers the reason if it has no counterpart: the end of a sentence. */
type MigrationRule = (value: unknown, draft: MigrationDraft) => string | undefined;

/** The state directory that the chart mounts, and below it Multus' default. */
const stateDirectory = "/var/lib/cni";
const multusStateDirectory = `${stateDirectory}/multus`;
const defaultBinDir = "/opt/cni/bin";
const maxPort = 65_535;

/** The key means the same in Plexus' own configuration. Multus takes an empty text or list as none. */
function same(key: string): MigrationRule {
  return (value, draft) => {
    const isEmpty = value === "" || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) draft.set("config", key, value);
    return undefined;
  };
}

/** The key needs no counterpart: its effect is Plexus' default, or another rule reads it. */
const covered: MigrationRule = () => undefined;

function without(reason: string): MigrationRule {
  return (value) => (value === false || value === "" || value === null ? undefined : reason);
}

const idle = Object.fromEntries(Object.entries(idleMultusKeys).map(([key, why]) => [key, without(why)]));

const capabilities: MigrationRule = (value, draft) => {
  if (isJsonObject(value) && Object.keys(value).length > 0) draft.set("config", "capabilities", value);
  return undefined;
};

const binDir: MigrationRule = (value, draft) => {
  if (typeof value === "string" && value !== "" && draft.nodePath(value) !== defaultBinDir)
    draft.set("config", "binDir", draft.nodePath(value));
  return undefined;
};

const cniDir: MigrationRule = (value, draft) => {
  const path = typeof value === "string" && value !== "" ? draft.nodePath(value) : multusStateDirectory;
  if (path === multusStateDirectory) return undefined;
  if (!path.startsWith(`${stateDirectory}/`))
    return `Plexus' pod mounts only ${stateDirectory}: move Multus' files to ${multusStateDirectory}, or drain the node before the switch`;
  draft.set("config", "multusCniDir", path);
  return undefined;
};

const confDir: MigrationRule = (value, draft) => {
  const path = typeof value === "string" ? draft.nodePath(value) : "";
  if (path === "") return undefined;
  // The chart mounts cni.networksDir and names it in the configuration.
  if (path === draft.confDir) draft.set("config", "confDir", path);
  else draft.set("cni", "networksDir", path);
  return undefined;
};

const cniConfigDir: MigrationRule = (_, draft) => {
  if (draft.confDir !== "/etc/cni/net.d") draft.set("cni", "confDir", draft.confDir);
  return undefined;
};

const autoconfigDir: MigrationRule = (value, draft) =>
  typeof value === "string" && value !== "" && draft.nodePath(value) !== draft.confDir
    ? `plexusd looks for the default network in ${draft.confDir} only: put its file there`
    : undefined;

const readiness: MigrationRule = (value, draft) => {
  const path = typeof value === "string" ? draft.nodePath(value) : "";
  if (path === "") return undefined;
  if (directoryOf(path) !== draft.confDir)
    return `Plexus' pod mounts only ${draft.confDir}; without the key an ADD waits for the default network's own file`;
  draft.set("config", "readinessindicatorfile", path);
  return undefined;
};

const clusterNetwork: MigrationRule = (value, draft) => {
  if (typeof value !== "string" || value === "" || draft.keys.has("multusMasterCNI")) return undefined;
  const path = draft.nodePath(value);
  if (draft.isAutomatic && directoryOf(path) === draft.confDir) return undefined;
  return draft.pinClusterNetwork(path)
    ? undefined
    : `plexusd takes the default network from a file of ${draft.confDir}: write the network ${quote(value, 128)} there`;
};

const masterCni: MigrationRule = (value, draft) => {
  if (typeof value !== "string" || value === "") return undefined;
  const path = value.startsWith("/") ? draft.nodePath(value) : `${draft.confDir}/${value}`;
  return draft.pinClusterNetwork(path) ? undefined : `plexusd takes the default network from a file of ${draft.confDir} only`;
};

const delegates: MigrationRule = (value, draft) => {
  if (!Array.isArray(value) || value.length === 0 || draft.keys.has("clusterNetwork")) return undefined;
  const [first]: readonly unknown[] = value;
  const name = isJsonObject(first) && typeof first["name"] === "string" ? quote(first["name"], 64) : "without a name";
  const more =
    value.length === 1 ? "" : "; make each further one a NetworkAttachmentDefinition, and name it in config.defaultNetworks";
  return `plexusd takes the default network from a file of ${draft.confDir}: the network ${name} must be the first one there, or named in cni.clusterNetwork${more}`;
};

const defaultNetworks: MigrationRule = (value, draft) => {
  const names: readonly unknown[] = Array.isArray(value) ? value : [];
  const paths = names.filter((each) => typeof each === "string" && each.startsWith("/"));
  const rest = names.filter((each) => !paths.includes(each));
  if (rest.length > 0) draft.set("config", "defaultNetworks", rest);
  return paths.length === 0
    ? undefined
    : `Plexus' pod does not mount ${paths.join(", ")}: make each a NetworkAttachmentDefinition, and name it in config.defaultNetworks`;
};

const metricsPort: MigrationRule = (value, draft) => {
  if (!isWhole(value, maxPort)) return `a port is a whole number from 1 to ${maxPort}`;
  // Multus listens on every address of the node.
  draft.set("metrics", "address", "node");
  draft.set("metrics", "port", value);
  return undefined;
};

const connectionLimit: MigrationRule = (value, draft) => {
  if (!isWhole(value, daemonCounts.calls.max)) return `daemon.calls is a whole number from 1 to ${daemonCounts.calls.max}`;
  draft.set("daemon", "calls", value);
  return undefined;
};

const overrideNetworkName: MigrationRule = (value, draft) =>
  value === true && !draft.keys.has("name")
    ? "Plexus does not copy the default network's name: set config.name to it, or give 00-multus.conf too"
    : undefined;

const multusConfigFile: MigrationRule = (value, draft) =>
  draft.isAutomatic || draft.keys.has("clusterNetwork") || draft.keys.has("delegates")
    ? undefined
    : `the values lack the keys of ${quote(String(value), 128)}: give this file too`;

/** The rules by the keys' documented spelling. */
export const migrationRules: Readonly<Record<string, MigrationRule>> = {
  ...idle,
  name: same("name"),
  type: covered,
  cniVersion: same("cniVersion"),
  capabilities,
  disableCheck: same("disableCheck"),
  disableGC: same("disableGC"),
  binDir,
  cniDir,
  confDir,
  cniConf: without("Multus ignores it, too"),
  cniConfigDir,
  multusAutoconfigDir: autoconfigDir,
  multusConfigFile,
  multusMasterCNI: masterCni,
  clusterNetwork,
  delegates,
  defaultNetworks,
  systemNamespaces: same("systemNamespaces"),
  multusNamespace: same("multusNamespace"),
  namespaceIsolation: same("namespaceIsolation"),
  globalNamespaces: same("globalNamespaces"),
  auxiliaryCNIChainName: same("auxiliaryCNIChainName"),
  readinessindicatorfile: readiness,
  // Plexus always keeps what a DEL needs until the DEL has succeeded.
  retryDeleteOnError: without("Plexus always keeps what a DEL needs until the DEL has succeeded"),
  kubeconfig: without("plexusd uses the token of its pod's service account"),
  logFile: without("Plexus' pod has no file for it: read kubectl logs, or set up a collector of logs"),
  logLevel: same("logLevel"),
  logToStderr: same("logToStderr"),
  logOptions: without("there is no logFile; the kubelet rotates the logs of containers"),
  // The rules for paths take it into account.
  chrootDir: covered,
  metricsPort,
  connectionLimit,
  overrideNetworkName,
  perNodeCertificate: without("plexusd uses the token of its pod's service account, which is bound to pod and node"),
  socketDir: without("Plexus' socket is /run/plexus/plexus.sock"),
  daemonSocketDir: without("Plexus' socket is /run/plexus/plexus.sock"),
};

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}
