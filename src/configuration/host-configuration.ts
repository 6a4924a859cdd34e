// What an administrator tells Plexus in its own CNI configuration: the default network, where things are kept, and what
// sandboxed delegates may do. Keys that Multus has keep Multus' names and meaning (checklist 1.4.1).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { ObjectReader } from "./object-reader.ts";
import { readWasm } from "./read-wasm.ts";
import { defaultGrants, defaultWasm, type WasmConfiguration } from "./wasm-configuration.ts";

/** A host configuration with every default filled in. */
export interface HostConfiguration {
  readonly name: string;
  /** The CNI configuration's own type: under which name the runtime calls us. */
  readonly type: string;
  readonly cniVersion: string;
  /** What the hands put before CNI_PATH. */
  readonly binDir: string | undefined;
  /** The default network by name, file or directory; undefined where it is inline. */
  readonly clusterNetwork: string | undefined;
  /** Networks that every pod outside `systemNamespaces` gets besides; named as `clusterNetwork` is. */
  readonly defaultNetworks: readonly string[];
  readonly systemNamespaces: readonly string[];
  /** Where definitions are that `clusterNetwork`, `defaultNetworks` and a pod's default network name without a namespace. */
  readonly multusNamespace: string;
  /** Whether a pod may only use definitions of its own namespace and of `globalNamespaces`. */
  readonly namespaceIsolation: boolean;
  readonly globalNamespaces: readonly string[];
  readonly readiness: ReadinessConfiguration;
  /** Name of a further chain made of the files of the directory of that name beside `clusterNetwork`'s file. */
  readonly auxiliaryCniChainName: string | undefined;
  /** Where configurations that a definition or `clusterNetwork` names are found. */
  readonly confDir: string;
  /** Where journal and cache are kept; on a disk that survives a restart. */
  readonly cniDir: string;
  /** State of the Multus that attached pods on this node before, for their DEL. */
  readonly multusCniDir: string;
  /** For what lives no longer than the machine is up. */
  readonly runDir: string;
  /** A file that says how to reach the Kubernetes API. */
  readonly kubeconfig: string | undefined;
  readonly kubernetes: KubernetesConfiguration;
  /** A directory of Pods and NetworkAttachmentDefinitions that stands in for the Kubernetes API. */
  readonly manifests: string | undefined;
  /** Whether a network's plugins get the addresses that a pod asks for in CNI_ARGS, too (IP=, MAC=). */
  readonly legacyCniArgs: boolean;
  readonly log: LogConfiguration;
  /** A file to which one line of JSON is appended for each step: what ran, how long, how it ended. */
  readonly trace: string | undefined;
  /** Milliseconds that one native step may take. */
  readonly stepTimeoutMs: number;
  /** GOMAXPROCS of native plugins where the runtime sets none; 0: none from us either. */
  readonly goMaxProcs: number;
  /** Milliseconds that an ADD may take in all; a DEL or CHECK half of it. */
  readonly callTimeoutMs: number;
  /** `strict`: the specification's letter; `compat`: what consumers of Multus expect. */
  readonly profile: "strict" | "compat";
  /** What becomes of a pod whose selection annotation is invalid (D-1); undefined: what the profile says. */
  readonly invalidAnnotation: "ignore" | "fail" | undefined;
  /** When a DEL that goes on failing is given up (RT-07). */
  readonly del: DeletionConfiguration;
  /** Which attachments CHECK looks at (D-15). */
  readonly check: "all" | "default";
  readonly gc: GcConfiguration;
  readonly wasm: WasmConfiguration;
  /** What the administrator should know though nothing is wrong, told once for each pod; one sentence each. */
  readonly notices: readonly string[];
  /** Mistakes that this call goes on in spite of; one sentence each. */
  readonly warnings: readonly string[];
}

/** A DEL is given up after `tries` failures, and not before `seconds` from the first one unless the namespace is gone. */
export interface DeletionConfiguration {
  readonly tries: number;
  readonly seconds: number;
}

export interface GcConfiguration {
  /** What one GC may take before it leaves the rest to the next. */
  readonly seconds: number;
  /** True: it only tells what it would do (D-14). */
  readonly dryRun: boolean;
}

export interface ReadinessConfiguration {
  /** The default network is ready while this file exists; undefined: always. */
  readonly file: string | undefined;
  /** Milliseconds that an ADD waits for it. */
  readonly addMs: number;
  /** Milliseconds that a DEL waits for it, before it goes on without (D-7). */
  readonly delMs: number;
}

export interface KubernetesConfiguration {
  /** Milliseconds that all requests of one call to the API may take together, retries included. */
  readonly budgetMs: number;
  /** Whether a kubeconfig may say insecure-skip-tls-verify. */
  readonly allowInsecure: boolean;
}

export interface LogConfiguration {
  /** A file that lines are appended to. */
  readonly file: string | undefined;
  readonly level: LogLevel;
  /** Whether lines go to stderr, which the runtime puts into its own log. */
  readonly toStderr: boolean;
}

/** Multus' levels, from few lines to many. */
export type LogLevel = (typeof logLevels)[number];

const logLevels = ["panic", "error", "verbose", "debug"] as const;

/**
 * The directory of nested calls lies below it and leads CNI_PATH, which colons divide; the path of the socket in it has at most
 * 107 bytes (host/hands/PROTOCOL.md). Otherwise no native plugin could be started, for a DEL neither.
 */
export const runDirPattern = /^\/[!-9;-~]{0,83}$/;
const runDirWanted = 'an absolute path of at most 84 ASCII characters, none of them a space or ":"';

/** A directory of CNI_PATH. */
export const binDirPattern = /^(?:\/[^\p{Cc}:"\\]*)?$/u;

/** A name that can be part of a path. */
export const chainNamePattern = /^(?:[a-zA-Z0-9][a-zA-Z0-9_.-]*)?$/;

/** A DNS-1123 label. */
export const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Multus takes a level in any case, and none for its default. */
export const logLevelPattern = /^(?:panic|error|verbose|debug|)$/i;

/**
 * A plugin written in Go waits for the kernel; Go's runtime starts threads for as many CPUs as it sees meanwhile. Without them
 * 32 bridges at a time took 13 % less CPU.
 */
export const defaultGoMaxProcs = 1;

/** Most milliseconds that a step may be given: kubelet gives a whole sandbox four minutes (RT-08). */
const longestStepMs = 240_000;

/** Most milliseconds that a call may be given: runtimes can be told to wait longer than the kubelet does. */
const longestCallMs = 3_600_000;

/** Keys without which a DEL would look for its journal in the wrong place, and report that there is nothing to do. */
const stateKeys = ["configuration", "name", "cniVersion", "cniDir", "runDir"];

export interface ReadInit {
  /**
   * True for a call that takes away or looks at what is there (DEL, CHECK): problems become warnings then, unless they
   * concern where the state is kept. A mistake that came into the file later mustn't keep a pod's sandbox (RT-07).
   */
  readonly lenient?: boolean;
  /** Those of whoever made the object. */
  readonly notices?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Reads the configuration object that the runtime gave on stdin. Fault CONFIG_INVALID names every field that is wrong. */
export function readHostConfiguration(
  value: unknown,
  { lenient = false, notices: given = [], warnings = [] }: ReadInit = {},
): Result<HostConfiguration> {
  if (!isJsonObject(value)) return refused(`configuration: must be an object, but is ${describeJson(value)}`);
  const reader = new ObjectReader(value);
  const notices = [...given, ...idleKeys(reader)];
  // Read by others: the specification's keys, what the runtime adds, and the file that was read already.
  for (const key of ["capabilities", "runtimeConfig", "args", "prevResult"]) reader.value(key);
  for (const key of ["disableCheck", "disableGC", "cni.dev/valid-attachments", "cni.dev/attachments"]) reader.value(key);
  reader.absolutePath("configFile");
  const name = reader.string("name");
  reader.require("name");
  const wasm = reader.object("wasm");
  const configuration: HostConfiguration = {
    name: name ?? "",
    type: typeof value["type"] === "string" ? value["type"] : "",
    cniVersion: reader.string("cniVersion") ?? "0.1.0",
    binDir: reader.matching("binDir", binDirPattern, "an absolute path without a colon, a quote or a backslash") || undefined,
    ...readDefaultNetworkKeys(reader, notices),
    systemNamespaces: reader.strings("systemNamespaces") ?? ["kube-system"],
    multusNamespace: reader.matching("multusNamespace", namespacePattern, "the name of a namespace") ?? "kube-system",
    namespaceIsolation: reader.boolean("namespaceIsolation") ?? false,
    globalNamespaces: namespacesOf(reader.text("globalNamespaces") ?? "default"),
    readiness: {
      file: reader.absolutePathOrEmpty("readinessindicatorfile"),
      addMs: reader.count("readinessTimeoutMs", longestStepMs) ?? 45_000,
      delMs: reader.count("readinessDelTimeoutMs", 60_000) ?? 2000,
    },
    ...readDirectories(reader, notices),
    kubeconfig: reader.absolutePathOrEmpty("kubeconfig"),
    kubernetes: readKubernetes(reader.object("kubernetes")),
    manifests: reader.absolutePath("manifests"),
    legacyCniArgs: reader.boolean("legacyCniArgs") ?? false,
    log: readLog(reader),
    trace: reader.absolutePath("trace"),
    stepTimeoutMs: reader.count("stepTimeoutMs", longestStepMs) ?? 60_000,
    goMaxProcs: reader.count("goMaxProcs", 4096, 0) ?? defaultGoMaxProcs,
    callTimeoutMs: reader.count("callTimeoutMs", longestCallMs) ?? 220_000,
    profile: reader.oneOf("profile", ["strict", "compat"]) ?? "compat",
    invalidAnnotation: reader.oneOf("invalidAnnotation", ["ignore", "fail"]),
    del: readDeletion(reader.object("del")),
    check: reader.oneOf("check", ["all", "default"]) ?? "all",
    gc: readGc(reader.object("gc")),
    wasm: wasm === undefined ? unreadWasm(value) : readWasm(wasm),
    notices,
    warnings,
  };
  if (reader.boolean("retryDeleteOnError") === false) {
    notices.push("configuration: retryDeleteOnError: false has no effect: what a DEL needs is kept until it succeeded");
  }
  // The specification reads it; here it only has to be asked for.
  reader.value("type");
  reader.end();
  const fatal = reader.problems.filter((problem) => !lenient || stateKeys.some((key) => problem.startsWith(`${key}:`)));
  if (fatal.length > 0) return refused(fatal.join("; "));
  return ok({ ...configuration, warnings: [...warnings, ...reader.problems.map((problem) => `configuration: ${problem}`)] });
}

/** No section, or one that is no object, from which nothing can be granted. */
function unreadWasm(value: Readonly<Record<string, unknown>>): WasmConfiguration {
  return Object.hasOwn(value, "wasm") ? { ...defaultWasm, otherGrants: {} } : { ...defaultWasm, otherGrants: defaultGrants };
}

/** Takes note of Multus' keys that do nothing here. */
function idleKeys(reader: ObjectReader): string[] {
  return Object.entries(idleMultusKeys)
    .filter(([key]) => reader.value(key) !== undefined)
    .map(([key, why]) => `configuration: ${key} of Multus has no effect: ${why}`);
}

/**
 * The default network is named by `clusterNetwork`, or is the first of `delegates`. With both Multus takes the former, and an
 * administrator hears that the latter does nothing.
 */
function readDefaultNetworkKeys(
  reader: ObjectReader,
  notices: string[],
): Pick<HostConfiguration, "clusterNetwork" | "defaultNetworks" | "auxiliaryCniChainName"> {
  const clusterNetwork = reader.text("clusterNetwork") ?? "";
  const inline = reader.value("delegates");
  // An empty list stands in what Multus' generator writes.
  const none = inline === undefined || (Array.isArray(inline) && inline.length === 0 && clusterNetwork !== "");
  if (!none) reader.objects("delegates");
  if (clusterNetwork !== "" && !none) {
    notices.push("configuration: delegates has no effect, because clusterNetwork names the default network");
  } else if (clusterNetwork === "" && none && reader.value("clusterNetwork") !== undefined) {
    reader.refuse("clusterNetwork", "is empty, and delegates is missing: one of them must say what the default network is");
  } else if (clusterNetwork === "" && none) {
    reader.refuse("delegates", "is missing, and so is clusterNetwork: one of them must say what the default network is");
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

/** An absolute path in its shortest spelling: paths are compared, and further names appended, as texts. */
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
    budgetMs: reader?.count("budgetMs", longestStepMs) ?? 20_000,
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

/** A comma list; the empty one is nobody (MC-11). */
function namespacesOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function refused(why: string): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return failed(fault("CONFIG_INVALID", why));
}
