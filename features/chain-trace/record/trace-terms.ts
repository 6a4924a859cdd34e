// The terms on which a call is recorded: by the configuration's `chainTrace`, or by a request to the daemon.

import type { ChainTraceConfiguration } from "../../../src/configuration/chain-trace-configuration.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import type { TraceBounds } from "../../../host/store/traces/trace-directory.ts";

/** The call that may be recorded. */
export interface TraceableCall {
  readonly verb: string;
  /** NAMESPACE/NAME; undefined for a container that is no pod. */
  readonly pod?: string | undefined;
}

/** How a call is recorded. */
export interface TraceTerms extends TraceBounds {
  readonly directory: string;
  /** Whether the trace is written only if the call fails. */
  readonly onlyFailed: boolean;
  /** Takes one of the traces that may still be written, if `onlyFailed`; otherwise the call has taken it. False: none is left. */
  readonly claim?: () => boolean;
  /** The trace that was taken is not written. */
  readonly unwritten?: () => void;
  /** Receives the path of the written trace. */
  readonly written?: (path: string) => void;
}

const mebibyte = 1024 * 1024;

/** The terms of the configuration for this call; undefined: the call is not recorded. */
export function configuredTerms(
  { chainTrace, cniDir }: { readonly chainTrace?: ChainTraceConfiguration | undefined; readonly cniDir: string },
  { pod, verb }: TraceableCall,
): TraceTerms | undefined {
  if (chainTrace === undefined) return undefined;
  const { calls, pods, directory, maxFiles, maxMiB } = chainTrace;
  if (pods !== undefined && !pods.some((pattern) => pod !== undefined && matchesPattern(pattern, pod))) return undefined;
  return {
    directory: directory ?? tracesIn(cniDir),
    onlyFailed: calls === "failed" || isProbe(verb),
    maxFiles,
    maxBytes: maxMiB * mebibyte,
  };
}

/** Runtimes send STATUS every few seconds: a successful one would fill the directory. */
export function isProbe(verb: string): boolean {
  return verb === "STATUS";
}

/** The default directory of traces in a state directory. */
export function tracesIn(stateDirectory: string): string {
  return `${stateDirectory}/traces`;
}
