// The administrator's CNI configuration for Plexus, as data: the default network, directories, and the rights of delegates. Keys
// that Multus has too keep Multus' names and meaning (checklist 1.4.1).

import type { Bounds } from "./bounds.ts";
import type { ChainTraceConfiguration } from "./chain-trace-configuration.ts";
import type { DefinitionPolicy } from "./definition-policy.ts";
import type { StepRules } from "./step-rules.ts";
import type { WasmConfiguration } from "./wasm-configuration.ts";

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
  /** Plugin types whose steps of the default network's list are left out: the runtime's list has such a step after Plexus. */
  readonly omitDefaultSteps: readonly string[];
  /** Namespace of definitions that `clusterNetwork`, `defaultNetworks` and a pod's default network name without a namespace. */
  readonly multusNamespace: string;
  /** Whether a pod may only use definitions of its own namespace and of `globalNamespaces`. */
  readonly namespaceIsolation: boolean;
  readonly globalNamespaces: readonly string[];
  /** Whether pods' networks come from PodNetworks (KEP-3698) of the API, too. */
  readonly podNetworks: boolean;
  /** Whether the daemon attaches and detaches networks of running pods when their annotation changes. */
  readonly hotPlug: boolean;
  /** Whether definitions may name a provider of ports in an outer fabric. */
  readonly externalPorts: boolean;
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
  /** The calls of which a chain trace is written; undefined: none. */
  readonly chainTrace: ChainTraceConfiguration | undefined;
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
  /** Whether an invalid selection annotation fails the pod (D-01); undefined: the profile decides. */
  readonly invalidAnnotation: "ignore" | "fail" | undefined;
  /** When a repeatedly failing DEL is given up (RT-07). */
  readonly del: DeletionConfiguration;
  /** Whether CHECK succeeds without a step. */
  readonly disableCheck: boolean;
  /** Whether GC and the daemon's rounds leave everything as it is. */
  readonly disableGC: boolean;
  /** The attachments that CHECK examines (D-15). */
  readonly check: "all" | "default";
  readonly gc: GcConfiguration;
  /** Maxima of a network's plugins and a pod's attachments. */
  readonly bounds: Bounds;
  /** Rules for the steps of the administrator's networks, by plugin type; undefined without any. */
  readonly steps?: StepRules | undefined;
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
  /** Maximum wait of a DEL for the file, in milliseconds; then the DEL proceeds without it (D-07). */
  readonly delMs: number;
}

/** Settings of requests to the Kubernetes API. */
export interface KubernetesConfiguration {
  /** Total time for one call's requests to the API, retries included, in milliseconds. */
  readonly budgetMs: number;
  /** Whether a kubeconfig may have insecure-skip-tls-verify. */
  readonly allowInsecure: boolean;
  /** Whether a pod's resource claims give networks their devices. */
  readonly resourceClaims: boolean;
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

/** The default of `callTimeoutMs`: the kubelet gives up after 240 seconds. */
export const defaultCallTimeoutMs = 220_000;

/** The default of `stepTimeoutMs`. */
export const defaultStepTimeoutMs = 60_000;

/** The values of `profile`. */
export const profiles = ["strict", "compat", "multus"] as const;

/** See `LogLevel`. */
export const logLevels = ["panic", "error", "verbose", "debug"] as const;

/** The shim reads runDir from the configuration's text itself, without JSON's escapes: ASCII without the characters that JSON or Go's encoder escapes. */
export const runDirPattern = /^\/[!#-%'-;=?-[\]-~]{0,255}$/;

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
