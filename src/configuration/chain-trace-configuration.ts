// The key `chainTrace`: the calls of which a chain trace is written, and the bounds of the traces' directory.

import type { ObjectReader } from "./object-reader.ts";

/** The section `chainTrace` with every default filled in. */
export interface ChainTraceConfiguration {
  readonly calls: (typeof tracedCalls)[number];
  /** Pods as NAMESPACE/NAME; `*` is a wildcard. Undefined: every container. */
  readonly pods: readonly string[] | undefined;
  /** Undefined: `traces` in `cniDir`. */
  readonly directory: string | undefined;
  /** Maximum traces in the directory, and their maximum size in mebibytes. The oldest are removed. */
  readonly maxFiles: number;
  readonly maxMiB: number;
}

/** The values of `calls`. */
export const tracedCalls = ["all", "failed"] as const;

/** The default bounds of a directory of traces, and their maxima. */
export const traceBounds = { maxFiles: 100, maxMiB: 64, mostFiles: 10_000, mostMiB: 4096 } as const;

/** NAMESPACE/NAME; each part may have wildcards. */
export const tracedPodPattern = /^[a-z0-9*][-a-z0-9*]{0,62}\/[a-z0-9*][-a-z0-9.*]{0,252}$/;
const podWanted = "NAMESPACE/NAME of a pod, in which * is a wildcard";

/** Reads the section; undefined without one, or if it has a mistake that does not stop the call. */
export function readChainTraceConfiguration(reader: ObjectReader | undefined): ChainTraceConfiguration | undefined {
  if (reader === undefined) return undefined;
  const before = reader.problems.length;
  reader.require("calls");
  const configuration = {
    calls: reader.oneOf("calls", tracedCalls) ?? "failed",
    pods: reader.allMatching("pods", tracedPodPattern, podWanted),
    directory: reader.absolutePath("directory"),
    maxFiles: reader.count("maxFiles", traceBounds.mostFiles) ?? traceBounds.maxFiles,
    maxMiB: reader.count("maxMiB", traceBounds.mostMiB) ?? traceBounds.maxMiB,
  };
  reader.end();
  // A trace shows what a call contains, so a mistyped bound must not widen which calls are written.
  return reader.problems.length === before ? configuration : undefined;
}
