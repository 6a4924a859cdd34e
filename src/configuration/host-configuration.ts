// The administrator's CNI configuration for Plexus: the default network, directories, and what sandboxed delegates may do. Keys
// that Multus has too keep Multus' names and meaning (checklist 1.4.1).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { type Bounds, readBounds } from "./bounds.ts";
import { specificationPrefix } from "./keys.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { ObjectReader } from "./object-reader.ts";
import type { DefinitionPolicy } from "./definition-policy.ts";
import { readDefinitions } from "./read-definitions.ts";
import { readWasm } from "./read-wasm.ts";
import { defaultGrants, defaultWasm, type WasmConfiguration } from "./wasm-configuration.ts";

/** A host configuration with every default filled in. */
export interface HostConfiguration {
  readonly name: string;
  /** The CNI configuration's own type: the name under which the runtime calls Plexus. */
  readonly type: string;
  readonly cniVersion: string;
  /** Directory that the shim puts in front of CNI_PATH. */
  readonly binDir: string | undefined;
  /** The default network by name, file or directory; undefined if `delegates` has it inline. */
  readonly clusterNetwork: string | undefined;
  /** Further networks of every pod outside `systemNamespaces`, named in the same way as `clusterNetwork`. */
  readonly defaultNetworks: readonly string[];
  readonly systemNamespaces: readonly string[];
  /** True while Plexus is being removed: an ADD attaches only the default network, as the runtime would without Plexus. */
  readonly retired: boolean;
  /** Namespace of definitions that `clusterNetwork`, `defaultNetworks` and a pod's default network name without a namespace. */
  readonly multusNamespace: string;
  /** Whether a pod may only use definitions of its own namespace and of `globalNamespaces`. */
  readonly namespaceIsolation: boolean;
  readonly globalNamespaces: readonly string[];
  readonly readiness: ReadinessConfiguration;
  /** Name of a further chain: the files of the directory of that name beside `clusterNetwork`'s file. */
  readonly auxiliaryCniChainName: string | undefined;
  /** Directory of the configurations that a definition or `clusterNetwork` names. */
  readonly confDir: string;
  /** Directory of journal and cache, on a disk that survives a restart. */
  readonly cniDir: string;
  /** State directory of the Multus that attached pods on this node before, for the DEL of these pods. */
  readonly multusCniDir: string;
  /** Directory for state that a restart of the machine may remove. */
  readonly runDir: string;
  /** Path of the kubeconfig for the Kubernetes API. */
  readonly kubeconfig: string | undefined;
  readonly kubernetes: KubernetesConfiguration;
  /** Directory of Pods and NetworkAttachmentDefinitions that replaces the Kubernetes API. */
  readonly manifests: string | undefined;
  /** Whether plugins also get the addresses that a pod requests in CNI_ARGS (IP=, MAC=). */
  readonly legacyCniArgs: boolean;
  readonly log: LogConfiguration;
  /** A file that gets one line of JSON for each step: the plugin, its duration and its outcome. */
  readonly trace: string | undefined;
  /** Maximum duration of one native step, in milliseconds. */
  readonly stepTimeoutMs: number;
  /** GOMAXPROCS of native plugins if the runtime sets none; 0: Plexus sets none either. */
  readonly goMaxProcs: number;
  /** Maximum duration of an ADD, in milliseconds; a DEL or CHECK gets half of it. */
  readonly callTimeoutMs: number;
  /**
   * `strict`: exactly as the specification says; `compat`: as consumers of Multus expect; `multus`: as `compat`, and every definition
   * may do what Multus allows.
   */
  readonly profile: (typeof profiles)[number];
  /** Whether an invalid selection annotation fails the pod (D-1); undefined: the profile decides. */
  readonly invalidAnnotation: "ignore" | "fail" | undefined;
  /** When a repeatedly failing DEL is given up (RT-07). */
  readonly del: DeletionConfiguration;
  /** The attachments that CHECK examines (D-15). */
  readonly check: "all" | "default";
  readonly gc: GcConfiguration;
  /** Maxima of a network's plugins and a pod's attachments. */
  readonly bounds: Bounds;
  readonly wasm: WasmConfiguration;
  /** The policy for NetworkAttachmentDefinitions. */
  readonly definitions: DefinitionPolicy;
  /** Notes for the administrator that are no mistakes, logged once for each pod; one sentence each. */
  readonly notices: readonly string[];
  /** Mistakes that do not stop this call; one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * A DEL is given up after `tries` failures, and not before `seconds` after the first one unless the network namespace is gone.
 */
export interface DeletionConfiguration {
  readonly tries: number;
  readonly seconds: number;
}

/** Settings of GC. */
export interface GcConfiguration {
  /** Maximum duration of one GC, in seconds; the next GC does the rest. */
  readonly seconds: number;
  /** True: GC only reports what it would do (D-14). */
  readonly dryRun: boolean;
}

/** Settings of the wait for the default network. */
export interface ReadinessConfiguration {
  /** The default network is ready while this file exists; undefined: it is always ready. */
  readonly file: string | undefined;
  /** Maximum wait of an ADD for the file, in milliseconds. */
  readonly addMs: number;
  /** Maximum wait of a DEL for the file, in milliseconds; then the DEL proceeds without it (D-7). */
  readonly delMs: number;
}

/** Settings of requests to the Kubernetes API. */
export interface KubernetesConfiguration {
  /** Total time for one call's requests to the API, retries included, in milliseconds. */
  readonly budgetMs: number;
  /** Whether a kubeconfig may have insecure-skip-tls-verify. */
  readonly allowInsecure: boolean;
}

/** Settings of a call's log. */
export interface LogConfiguration {
  /** A file to which log lines are appended. */
  readonly file: string | undefined;
  readonly level: LogLevel;
  /** Whether lines go to stderr, which the runtime copies to its own log. */
  readonly toStderr: boolean;
}

/** Multus' levels, from fewest to most lines. */
export type LogLevel = (typeof logLevels)[number];

/** The values of `profile`. */
export const profiles = ["strict", "compat", "multus"] as const;

const logLevels = ["panic", "error", "verbose", "debug"] as const;

/**
 * The nested-call directory lies below runDir and is part of CNI_PATH, which is split at colons. The path of the socket in it has
 * at most 107 bytes (host/shim/PROTOCOL.md). With a longer path no native plugin could be started, not even for a DEL.
 */
export const runDirPattern = /^\/[!-9;-~]{0,83}$/;
const runDirWanted = 'an absolute path of at most 84 ASCII characters, none of them a space or ":"';

/** A directory of CNI_PATH. */
export const binDirPattern = /^(?:\/[^\p{Cc}:"\\]*)?$/u;

/** A name that can be part of a path. */
export const chainNamePattern = /^(?:[a-zA-Z0-9][a-zA-Z0-9_.-]*)?$/;

/** A DNS-1123 label. */
export const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Multus accepts a level in any case, and the empty text for its default. */
export const logLevelPattern = /^(?:panic|error|verbose|debug|)$/i;

/**
 * A plugin written in Go mostly waits for the kernel, while Go's runtime starts threads for each CPU. With one CPU, 32 bridge
 * plugins at a time took 13 % less CPU time.
 */
export const defaultGoMaxProcs = 1;

/** The kubelet gives a whole sandbox four minutes (RT-08). */
const maxStepMs = 240_000;

/** A runtime can be configured to wait longer than the kubelet does. */
const maxCallMs = 3_600_000;

/** Keys that locate the journal. With a wrong value a DEL would find no journal and succeed without doing anything. */
const stateKeys = ["configuration", "name", "cniVersion", "cniDir", "runDir"];

/** Strictness of the reading, and earlier messages. */
export interface ReadInit {
  /**
   * True for calls that remove or examine an existing attachment (DEL, CHECK). Problems then become warnings, unless they concern
   * the state's location: a mistake that is added to the file later must not keep a pod's sandbox (RT-07).
   */
  readonly lenient?: boolean;
  /** Notices and warnings from the steps that built the object. */
  readonly notices?: readonly string[];
  readonly warnings?: readonly string[];
}

/**
 * Reads the configuration object from the runtime's stdin. The fault names every wrong field: FIELD_UNSUPPORTED (2) if a key of the
 * object itself is unknown, else CONFIG_INVALID (7).
 */
export function readHostConfiguration(
  value: unknown,
  { lenient = false, notices: earlierNotices = [], warnings = [] }: ReadInit = {},
): Result<HostConfiguration> {
  if (!isJsonObject(value)) return refused(`configuration: must be an object, but is ${describeJson(value)}`);
  const reader = new ObjectReader(value);
  const notices = [...earlierNotices, ...idleKeys(reader)];
  // Keys that are read elsewhere: the specification's, the runtime's, and the file that is already merged in.
  for (const key of ["capabilities", "runtimeConfig", "args", "prevResult"]) reader.value(key);
  for (const key of ["disableCheck", "disableGC"]) reader.value(key);
  reader.absolutePath("configFile");
  const name = reader.string("name");
  reader.require("name");
  const wasm = reader.object("wasm");
  const definitions = reader.object("definitions");
  const profile = reader.oneOf("profile", profiles) ?? "compat";
  const multusNamespace = reader.matching("multusNamespace", namespacePattern, "the name of a namespace") ?? "kube-system";
  const configuration: HostConfiguration = {
    name: name ?? "",
    type: typeof value["type"] === "string" ? value["type"] : "",
    cniVersion: reader.string("cniVersion") ?? "0.1.0",
    binDir: reader.matching("binDir", binDirPattern, "an absolute path without a colon, a quote or a backslash") || undefined,
    ...readDefaultNetworkKeys(reader, notices),
    systemNamespaces: reader.strings("systemNamespaces") ?? ["kube-system"],
    retired: reader.boolean("retired") ?? false,
    multusNamespace,
    namespaceIsolation: reader.boolean("namespaceIsolation") ?? false,
    globalNamespaces: namespacesOf(reader.text("globalNamespaces") ?? "default"),
    readiness: {
      file: reader.absolutePathOrEmpty("readinessindicatorfile"),
      addMs: reader.count("readinessTimeoutMs", maxStepMs) ?? 45_000,
      delMs: reader.count("readinessDelTimeoutMs", 60_000) ?? 2000,
    },
    ...readDirectories(reader, notices),
    kubeconfig: reader.absolutePathOrEmpty("kubeconfig"),
    kubernetes: readKubernetes(reader.object("kubernetes")),
    manifests: reader.absolutePath("manifests"),
    legacyCniArgs: reader.boolean("legacyCniArgs") ?? false,
    log: readLog(reader),
    trace: reader.absolutePath("trace"),
    stepTimeoutMs: reader.count("stepTimeoutMs", maxStepMs) ?? 60_000,
    goMaxProcs: reader.count("goMaxProcs", 4096, 0) ?? defaultGoMaxProcs,
    callTimeoutMs: reader.count("callTimeoutMs", maxCallMs) ?? 220_000,
    profile,
    invalidAnnotation: reader.oneOf("invalidAnnotation", ["ignore", "fail"]),
    del: readDeletion(reader.object("del")),
    check: reader.oneOf("check", ["all", "default"]) ?? "all",
    gc: readGc(reader.object("gc")),
    bounds: readBounds(reader.object("bounds")),
    wasm: wasm === undefined ? unreadWasm(value) : readWasm(wasm),
    definitions: readDefinitions(definitions, Object.hasOwn(value, "definitions"), { profile, multusNamespace }),
    notices,
    warnings,
  };
  if (reader.boolean("retryDeleteOnError") === false) {
    notices.push("configuration: retryDeleteOnError: false has no effect: what a DEL needs is kept until it succeeded");
  }
  // `type` was read above; this marks it as a known key.
  reader.value("type");
  reader.end(isOfSpecification);
  const fatal = reader.problems.filter((problem) => !lenient || stateKeys.some((key) => problem.startsWith(`${key}:`)));
  if (fatal.length > 0)
    return refused(fatal.join("; "), reader.hasUnknownKeys && !lenient ? "FIELD_UNSUPPORTED" : "CONFIG_INVALID");
  return ok({ ...configuration, warnings: [...warnings, ...reader.problems.map((problem) => `configuration: ${problem}`)] });
}

/** Without a section `wasm` the default grants hold. With a section that is not an object nothing is granted. */
function unreadWasm(value: Readonly<Record<string, unknown>>): WasmConfiguration {
  return Object.hasOwn(value, "wasm") ? { ...defaultWasm, otherGrants: {} } : { ...defaultWasm, otherGrants: defaultGrants };
}

/** A notice for each of Multus' keys that have no effect in Plexus. */
function idleKeys(reader: ObjectReader): string[] {
  return Object.entries(idleMultusKeys)
    .filter(([key]) => reader.value(key) !== undefined)
    .map(([key, why]) => `configuration: ${key} of Multus has no effect: ${why}`);
}

/**
 * The default network is named by `clusterNetwork`, or is the first of `delegates`. With both, Multus takes the former; a notice
 * then says that the latter has no effect.
 */
function readDefaultNetworkKeys(
  reader: ObjectReader,
  notices: string[],
): Pick<HostConfiguration, "clusterNetwork" | "defaultNetworks" | "auxiliaryCniChainName"> {
  const clusterNetwork = reader.text("clusterNetwork") ?? "";
  const inline = reader.value("delegates");
  // Multus' generator writes an empty list.
  const none = inline === undefined || (Array.isArray(inline) && inline.length === 0 && clusterNetwork !== "");
  if (!none) reader.objects("delegates");
  if (clusterNetwork !== "" && !none) {
    notices.push("configuration: delegates has no effect, because clusterNetwork names the default network");
  } else if (clusterNetwork === "" && none && reader.value("clusterNetwork") !== undefined) {
    reader.refuse("clusterNetwork", "is empty, and delegates is missing: one of them must name the default network");
  } else if (clusterNetwork === "" && none) {
    reader.refuse("delegates", "is missing, and so is clusterNetwork: one of them must name the default network");
  }
  const auxiliary = reader.matching("auxiliaryCNIChainName", chainNamePattern, "a name that can be part of a path");
  const isPath = clusterNetwork.startsWith("/");
  if (auxiliary !== undefined && auxiliary !== "" && !isPath) {
    reader.refuse("auxiliaryCNIChainName", "needs a clusterNetwork that is a file: the chain's directory lies beside it");
  }
  const defaultNetworks = reader.strings("defaultNetworks") ?? [];
  if (defaultNetworks.includes("")) reader.refuse("defaultNetworks", "has an empty name in it");
  return {
    clusterNetwork: clusterNetwork === "" ? undefined : clusterNetwork,
    defaultNetworks,
    auxiliaryCniChainName: auxiliary === "" ? undefined : auxiliary,
  };
}

/** An absolute path in its shortest spelling, because paths are compared and extended as text. */
function plainPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function readDirectories(
  reader: ObjectReader,
  notices: string[],
): Pick<HostConfiguration, "confDir" | "cniDir" | "multusCniDir" | "runDir"> {
  const cniConf = reader.absolutePathOrEmpty("cniConf");
  if (cniConf !== undefined) notices.push("configuration: cniConf is read as confDir; Multus itself ignores it: rename it");
  return {
    confDir: reader.absolutePath("confDir") ?? cniConf ?? "/etc/cni/multus/net.d",
    cniDir: plainPath(reader.absolutePath("cniDir") ?? "/var/lib/cni/plexus"),
    multusCniDir: plainPath(reader.absolutePath("multusCniDir") ?? "/var/lib/cni/multus"),
    runDir: plainPath(reader.matching("runDir", runDirPattern, runDirWanted) ?? "/run/plexus"),
  };
}

function readKubernetes(reader: ObjectReader | undefined): KubernetesConfiguration {
  const configuration = {
    budgetMs: reader?.count("budgetMs", maxStepMs) ?? 20_000,
    allowInsecure: reader?.boolean("allowInsecure") ?? false,
  };
  reader?.end();
  return configuration;
}

function readDeletion(reader: ObjectReader | undefined): DeletionConfiguration {
  const deletion = { tries: reader?.count("tries", 1000) ?? 10, seconds: reader?.count("seconds", 86_400) ?? 300 };
  reader?.end();
  return deletion;
}

function readGc(reader: ObjectReader | undefined): GcConfiguration {
  const gc = { seconds: reader?.count("seconds", 3600) ?? 60, dryRun: reader?.boolean("dryRun") ?? false };
  reader?.end();
  return gc;
}

function readLog(reader: ObjectReader): LogConfiguration {
  const level = reader.matching("logLevel", logLevelPattern, `one of ${logLevels.join(", ")}`)?.toLowerCase();
  return {
    file: reader.absolutePathOrEmpty("logFile"),
    level: logLevels.find((each) => each === level) ?? "verbose",
    toStderr: reader.boolean("logToStderr") ?? true,
  };
}

/** A comma-separated list; the empty list names no namespace (MC-11). */
function namespacesOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** Keys under `cni.dev/` are the specification's: a runtime of a later version may set more of them than Plexus knows (CNI section 3). */
function isOfSpecification(key: string): boolean {
  return key.startsWith(specificationPrefix);
}

function refused(
  why: string,
  kind: "CONFIG_INVALID" | "FIELD_UNSUPPORTED" = "CONFIG_INVALID",
): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return failed(fault(kind, why));
}
