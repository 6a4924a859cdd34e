// What an administrator tells Plexus in its own CNI configuration: the default network, where things are kept, and what
// sandboxed delegates may do. Keys that Multus has keep Multus' names and meaning (checklist 1.4.1).

import * as z from "zod/mini";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { closest } from "./closest.ts";

const absolutePath = z.string().check(z.regex(/^\/[^\0]*$/, "must be an absolute path"));
const positive = z.int().check(z.gte(1));

/** Limits of one call of a delegate; absent ones have the sandbox's defaults. None can be switched off. */
const limits = z.strictObject({
  /** Milliseconds of one call. */
  timeMs: z.optional(positive.check(z.lte(60_000))),
  /** Mebibytes of linear memory. */
  memoryMiB: z.optional(positive.check(z.lte(1024))),
  /** Bytes of the request. */
  inputBytes: z.optional(positive.check(z.lte(16 * 1024 * 1024))),
  /** Bytes of the answer, aliased ones counted each time. */
  outputBytes: z.optional(positive.check(z.lte(16 * 1024 * 1024))),
  /** Bytes of log of one call. */
  logBytes: z.optional(positive.check(z.lte(16 * 1024 * 1024))),
});

/** What one delegate may use. A capability that isn't here is refused when the delegate is loaded. */
const grants = z.strictObject({
  log: z.optional(z.strictObject({})),
  leases: z.optional(z.strictObject({ directories: z.optional(z.array(absolutePath)) })),
  resolver: z.optional(z.strictObject({ files: z.optional(z.array(absolutePath)) })),
});

const wasm = z.strictObject({
  /** True: a component wins over a native binary in the same directory; a list: for these types. */
  prefer: z.optional(z.union([z.boolean(), z.array(z.string())])),
  /** Where guests run: in a sandbox process, or in the one-shot brain's own. */
  isolation: z.optional(z.enum(["process", "in-process"])),
  limits: z.optional(limits),
  /** By delegate's type; what is here replaces the default grant (log, leases in the default directory). */
  grants: z.optional(z.record(z.string(), grants)),
});

const hostConfiguration = z.strictObject({
  cniVersion: z.optional(z.string()),
  name: z.string(),
  type: z.string(),
  capabilities: z.optional(z.record(z.string(), z.unknown())),
  runtimeConfig: z.optional(z.record(z.string(), z.unknown())),
  args: z.optional(z.unknown()),
  prevResult: z.optional(z.unknown()),
  "cni.dev/valid-attachments": z.optional(z.unknown()),
  "cni.dev/attachments": z.optional(z.unknown()),
  /** Inline configurations; the first is the default network. */
  delegates: z.optional(z.array(z.looseObject({})).check(z.minLength(1))),
  /** The default network: the name of a configuration in `confDir`, a directory, or a file. */
  clusterNetwork: z.optional(z.string().check(z.minLength(1))),
  /** Where configurations that a definition or `clusterNetwork` names are found. */
  confDir: z.optional(absolutePath),
  /** Where journal and cache are kept; on a disk that survives a restart. */
  cniDir: z.optional(absolutePath),
  /** For what lives no longer than the machine is up. */
  runDir: z.optional(absolutePath),
  /** A directory of Pods and NetworkAttachmentDefinitions that stands in for the Kubernetes API. */
  manifests: z.optional(absolutePath),
  /** A file to which one line of JSON is appended for each step: what ran, how long, how it ended. */
  trace: z.optional(absolutePath),
  /** Milliseconds that one native step may take. */
  stepTimeoutMs: z.optional(positive.check(z.lte(240_000))),
  /** `strict`: the specification's letter; `compat`: what consumers of Multus expect. */
  profile: z.optional(z.enum(["strict", "compat"])),
  wasm: z.optional(wasm),
});

type Parsed = z.infer<typeof hostConfiguration>;
export type DelegateGrants = z.infer<typeof grants>;
export type DelegateLimits = z.infer<typeof limits>;

/** A host configuration with every default filled in. */
export interface HostConfiguration {
  readonly name: string;
  readonly cniVersion: string;
  readonly clusterNetwork: string | undefined;
  readonly hasDelegates: boolean;
  readonly confDir: string;
  readonly cniDir: string;
  readonly runDir: string;
  readonly manifests: string | undefined;
  readonly trace: string | undefined;
  readonly stepTimeoutMs: number;
  readonly profile: "strict" | "compat";
  readonly wasm: {
    readonly prefer: boolean | readonly string[];
    readonly isolation: "process" | "in-process";
    readonly limits: DelegateLimits;
    readonly grants: Readonly<Record<string, DelegateGrants>>;
  };
}

/** Directory of the reference host-local, which leases are kept in unless told otherwise. */
export const defaultLeaseDirectory = "/var/lib/cni/networks";

/** What a delegate may use where the administrator said nothing: nothing that reaches the kernel. */
export const defaultGrants: DelegateGrants = {
  log: {},
  leases: { directories: [defaultLeaseDirectory] },
  resolver: { files: ["/etc/resolv.conf"] },
};

/** Reads the configuration object that the runtime gave on stdin (already parsed from JSON). */
export function readHostConfiguration(value: unknown): Result<HostConfiguration> {
  const parsed = hostConfiguration.safeParse(value);
  if (!parsed.success) return failed(fault("CONFIG_INVALID", describe(parsed.error.issues)));
  const it = parsed.data;
  if (it.delegates !== undefined && it.clusterNetwork !== undefined) {
    return failed(
      fault("CONFIG_INVALID", "delegates and clusterNetwork exclude each other: keep the one that names the default network"),
    );
  }
  if (it.delegates === undefined && it.clusterNetwork === undefined) {
    return failed(
      fault(
        "CONFIG_INVALID",
        "there is no default network: set delegates (inline) or clusterNetwork (a name, file or directory)",
      ),
    );
  }
  return ok(withDefaults(it));
}

function withDefaults(it: Parsed): HostConfiguration {
  return {
    name: it.name,
    cniVersion: it.cniVersion ?? "0.1.0",
    clusterNetwork: it.clusterNetwork,
    hasDelegates: it.delegates !== undefined,
    confDir: it.confDir ?? "/etc/cni/multus/net.d",
    cniDir: it.cniDir ?? "/var/lib/cni/plexus",
    runDir: it.runDir ?? "/run/plexus",
    manifests: it.manifests,
    trace: it.trace,
    stepTimeoutMs: it.stepTimeoutMs ?? 60_000,
    profile: it.profile ?? "compat",
    wasm: {
      prefer: it.wasm?.prefer ?? false,
      isolation: it.wasm?.isolation ?? "in-process",
      limits: it.wasm?.limits ?? {},
      grants: it.wasm?.grants ?? {},
    },
  };
}

type Issue = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code: string;
  readonly keys?: readonly string[];
};

/** All issues in one line, each with its field; an unknown key with the nearest valid one. */
function describe(issues: readonly Issue[]): string {
  return issues
    .map((issue) => {
      const where = issue.path.map(String).join(".");
      if (issue.code !== "unrecognized_keys" || issue.keys === undefined) return `${where || "configuration"}: ${issue.message}`;
      return issue.keys.map((key) => unknownKey(where, key)).join("; ");
    })
    .join("; ");
}

function unknownKey(where: string, key: string): string {
  const valid = Object.keys(shapeAt(where).shape);
  const nearest = closest(key, valid);
  const place = where === "" ? key : `${where}.${key}`;
  return `${place}: no such key; ${nearest === undefined ? `valid ones: ${valid.join(", ")}` : `did you mean ${nearest}?`}`;
}

function shapeAt(where: string): { readonly shape: Readonly<Record<string, unknown>> } {
  if (where === "wasm") return wasm;
  if (where === "wasm.limits") return limits;
  if (where.startsWith("wasm.grants.")) return grants;
  return hostConfiguration;
}
