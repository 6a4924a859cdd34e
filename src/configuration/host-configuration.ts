// What an administrator tells Plexus in its own CNI configuration: the default network, where things are kept, and what
// sandboxed delegates may do. Keys that Multus has keep Multus' names and meaning (checklist 1.4.1).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { ObjectReader } from "./object-reader.ts";

/** What one delegate may use. A capability that isn't here is refused when the delegate is loaded. */
export interface DelegateGrants {
  readonly log?: object | undefined;
  /** Directories that leases may be kept in; the first is the one for configurations that name none. */
  readonly leases?: { readonly directories?: readonly string[] | undefined } | undefined;
  /** Files in the format of resolv.conf that may be read. */
  readonly resolver?: { readonly files?: readonly string[] | undefined } | undefined;
}

/** Limits of one call of a delegate; absent ones have the sandbox's defaults. None can be switched off. */
export interface DelegateLimits {
  /** Milliseconds of one call. */
  readonly timeMs?: number | undefined;
  /** Mebibytes of linear memory. */
  readonly memoryMiB?: number | undefined;
  /** Bytes of the request. */
  readonly inputBytes?: number | undefined;
  /** Bytes of the answer, aliased ones counted each time. */
  readonly outputBytes?: number | undefined;
  /** Bytes of log of one call. */
  readonly logBytes?: number | undefined;
}

/** A host configuration with every default filled in. */
export interface HostConfiguration {
  readonly name: string;
  readonly cniVersion: string;
  /** The default network by name, file or directory; undefined where it is inline. */
  readonly clusterNetwork: string | undefined;
  /** Where configurations that a definition or `clusterNetwork` names are found. */
  readonly confDir: string;
  /** Where journal and cache are kept; on a disk that survives a restart. */
  readonly cniDir: string;
  /** For what lives no longer than the machine is up. */
  readonly runDir: string;
  /** A directory of Pods and NetworkAttachmentDefinitions that stands in for the Kubernetes API. */
  readonly manifests: string | undefined;
  /** A file to which one line of JSON is appended for each step: what ran, how long, how it ended. */
  readonly trace: string | undefined;
  /** Milliseconds that one native step may take. */
  readonly stepTimeoutMs: number;
  /** `strict`: the specification's letter; `compat`: what consumers of Multus expect. */
  readonly profile: "strict" | "compat";
  /** When a DEL that goes on failing is given up (RT-07). */
  readonly del: DeletionConfiguration;
  /** Which attachments CHECK looks at (D-15). */
  readonly check: "all" | "default";
  readonly gc: GcConfiguration;
  readonly wasm: WasmConfiguration;
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

export interface WasmConfiguration {
  /** True: a component wins over a native binary in the same directory; a list: for these types. */
  readonly prefer: boolean | readonly string[];
  /** Where guests run: in a sandbox process, or in the one-shot brain's own. */
  readonly isolation: "process" | "in-process";
  readonly limits: DelegateLimits;
  /** By delegate's type; what is here replaces the default grants. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
}

/** Directory of the reference host-local, which leases are kept in unless told otherwise. */
export const defaultLeaseDirectory = "/var/lib/cni/networks";

/** Files that a delegate may have read where the administrator lists none. */
export const defaultResolverFiles: readonly string[] = ["/etc/resolv.conf"];

/** What a delegate may use where the administrator said nothing: nothing that reaches the kernel. */
export const defaultGrants: DelegateGrants = {
  log: {},
  leases: { directories: [defaultLeaseDirectory] },
  resolver: { files: defaultResolverFiles },
};

/**
 * The directory of nested calls lies below it and leads CNI_PATH, which colons divide; the path of the socket in it has at most
 * 107 bytes (host/hands/PROTOCOL.md). Otherwise no native plugin could be started, for a DEL neither.
 */
export const runDirPattern = /^\/[!-9;-~]{0,83}$/;
const runDirWanted = 'an absolute path of at most 84 ASCII characters, none of them a space or ":"';

/** Most milliseconds that a step may be given: kubelet gives a whole sandbox four minutes (RT-08). */
const longestStepMs = 240_000;
const mebibyte = 1024 * 1024;

/** Reads the configuration object that the runtime gave on stdin. Fault CONFIG_INVALID names every field that is wrong. */
export function readHostConfiguration(value: unknown): Result<HostConfiguration> {
  if (!isJsonObject(value)) return refused(`configuration: must be an object, but is ${describeJson(value)}`);
  const reader = new ObjectReader(value);
  // Read by others: the specification's keys and what the runtime adds.
  for (const key of ["type", "capabilities", "runtimeConfig", "args", "prevResult"]) reader.value(key);
  for (const key of ["disableCheck", "disableGC", "cni.dev/valid-attachments", "cni.dev/attachments"]) reader.value(key);
  const name = reader.string("name");
  reader.require("name");
  const configuration: HostConfiguration = {
    name: name ?? "",
    cniVersion: reader.string("cniVersion") ?? "0.1.0",
    clusterNetwork: readDefaultNetworkKeys(reader),
    confDir: reader.absolutePath("confDir") ?? "/etc/cni/multus/net.d",
    cniDir: reader.absolutePath("cniDir") ?? "/var/lib/cni/plexus",
    runDir: reader.matching("runDir", runDirPattern, runDirWanted) ?? "/run/plexus",
    manifests: reader.absolutePath("manifests"),
    trace: reader.absolutePath("trace"),
    stepTimeoutMs: reader.count("stepTimeoutMs", longestStepMs) ?? 60_000,
    profile: reader.oneOf("profile", ["strict", "compat"]) ?? "compat",
    del: readDeletion(reader.object("del")),
    check: reader.oneOf("check", ["all", "default"]) ?? "all",
    gc: readGc(reader.object("gc")),
    wasm: readWasm(reader.object("wasm")),
  };
  reader.end();
  return reader.problems.length === 0 ? ok(configuration) : refused(reader.problems.join("; "));
}

/** The default network is named in exactly one way: by `clusterNetwork`, or inline as the first of `delegates`. */
function readDefaultNetworkKeys(reader: ObjectReader): string | undefined {
  const clusterNetwork = reader.string("clusterNetwork");
  reader.objects("delegates");
  const inline = reader.value("delegates") !== undefined;
  if (inline && clusterNetwork !== undefined) {
    reader.refuse("clusterNetwork", "delegates names a default network too: keep one of them");
  } else if (!inline && reader.value("clusterNetwork") === undefined) {
    reader.refuse("delegates", "is missing, and so is clusterNetwork: one of them must say what the default network is");
  }
  return clusterNetwork;
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

function readWasm(reader: ObjectReader | undefined): WasmConfiguration {
  if (reader === undefined) return { prefer: false, isolation: "in-process", limits: {}, grants: {} };
  const prefer = Array.isArray(reader.value("prefer")) ? reader.strings("prefer") : reader.boolean("prefer");
  const wasm: WasmConfiguration = {
    prefer: prefer ?? false,
    isolation: reader.oneOf("isolation", ["process", "in-process"]) ?? "in-process",
    limits: readLimits(reader.object("limits")),
    grants: readGrants(reader.object("grants")),
  };
  reader.end();
  return wasm;
}

function readLimits(reader: ObjectReader | undefined): DelegateLimits {
  const limits: DelegateLimits = {
    timeMs: reader?.count("timeMs", 60_000),
    memoryMiB: reader?.count("memoryMiB", 1024),
    inputBytes: reader?.count("inputBytes", 16 * mebibyte),
    outputBytes: reader?.count("outputBytes", 16 * mebibyte),
    logBytes: reader?.count("logBytes", 16 * mebibyte),
  };
  reader?.end();
  return limits;
}

function readGrants(reader: ObjectReader | undefined): Readonly<Record<string, DelegateGrants>> {
  const grants: [string, DelegateGrants][] = (reader?.entries() ?? []).map(([type, each]) => [type, readGrant(each)]);
  return Object.fromEntries(grants);
}

function readGrant(reader: ObjectReader): DelegateGrants {
  const log = reader.object("log");
  const leases = reader.object("leases");
  const resolver = reader.object("resolver");
  const grant: DelegateGrants = {
    ...(log === undefined ? {} : { log: {} }),
    ...(leases === undefined ? {} : { leases: { directories: leases.absolutePaths("directories") } }),
    ...(resolver === undefined ? {} : { resolver: { files: resolver.absolutePaths("files") } }),
  };
  for (const each of [log, leases, resolver, reader]) each?.end();
  return grant;
}

function refused(why: string): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return failed(fault("CONFIG_INVALID", why));
}
