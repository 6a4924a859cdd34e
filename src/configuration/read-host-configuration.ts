// Reads the host configuration from the object on stdin, and fills in every default.

import { DEFAULT_VERSION } from "../cni/versions.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { readBounds } from "./bounds.ts";
import { readChainTraceConfiguration } from "./chain-trace-configuration.ts";
import { omittedStepsKey } from "./default-network-steps.ts";
import { specificationPrefix } from "./keys.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { ObjectReader } from "./object-reader.ts";
import { readDefinitions } from "./read-definitions.ts";
import { readStepRules } from "./read-step-rules.ts";
import { readWasm } from "./read-wasm.ts";
import { defaultGrants, defaultWasm, type WasmConfiguration } from "./wasm-configuration.ts";
import {
  binDirPattern,
  chainNamePattern,
  defaultCallTimeoutMs,
  defaultGoMaxProcs,
  defaultStepTimeoutMs,
  type DeletionConfiguration,
  type GcConfiguration,
  type HostConfiguration,
  type KubernetesConfiguration,
  type LogConfiguration,
  logLevelPattern,
  logLevels,
  namespacePattern,
  profiles,
  runDirPattern,
} from "./host-configuration.ts";

const runDirWanted = 'an absolute path of at most 256 ASCII characters, none of them a space, ", &, <, > or \\';

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
    // libcni passes an empty text for a list without a version.
    cniVersion: reader.text("cniVersion") || DEFAULT_VERSION,
    binDir: reader.matching("binDir", binDirPattern, "an absolute path without a colon, a quote or a backslash") || undefined,
    ...readDefaultNetworkKeys(reader, notices),
    systemNamespaces: reader.strings("systemNamespaces") ?? ["kube-system"],
    retired: reader.boolean("retired") ?? false,
    omitDefaultSteps: reader.strings(omittedStepsKey) ?? [],
    multusNamespace,
    namespaceIsolation: reader.boolean("namespaceIsolation") ?? false,
    globalNamespaces: namespacesOf(reader.text("globalNamespaces") ?? "default"),
    podNetworks: reader.boolean("podNetworks") ?? false,
    hotPlug: reader.boolean("hotPlug") ?? false,
    externalPorts: reader.boolean("externalPorts") ?? false,
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
    stepTimeoutMs: reader.count("stepTimeoutMs", maxStepMs) ?? defaultStepTimeoutMs,
    chainTrace: readChainTraceConfiguration(reader.object("chainTrace")),
    goMaxProcs: reader.count("goMaxProcs", 4096, 0) ?? defaultGoMaxProcs,
    callTimeoutMs: reader.count("callTimeoutMs", maxCallMs) ?? defaultCallTimeoutMs,
    profile,
    invalidAnnotation: reader.oneOf("invalidAnnotation", ["ignore", "fail"]),
    del: readDeletion(reader.object("del")),
    disableCheck: reader.flag("disableCheck") ?? false,
    disableGC: reader.flag("disableGC") ?? false,
    check: reader.oneOf("check", ["all", "default"]) ?? "all",
    gc: readGc(reader.object("gc")),
    bounds: readBounds(reader.object("bounds")),
    steps: readStepRules(reader.object("steps")),
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
    resourceClaims: reader?.boolean("resourceClaims") ?? false,
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
