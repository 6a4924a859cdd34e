// The Lease object of an election (coordination.k8s.io/v1), by the rules of client-go's leaderelection: a candidate trusts its own clock only,
// and counts a lease as expired once it has seen no renewal for the lease's duration.

import { isJsonObject } from "../json/document.ts";

/** The content of a Lease that an election needs. */
export interface LeaseContent {
  /** The leader's identity; empty: released. */
  readonly holder: string;
  /** Seconds without a renewal after which others may take the lease. */
  readonly durationSeconds: number;
  /** How often the holder changed. */
  readonly transitions: number;
  /** The holder's last renewal as the holder wrote it. Only its change counts, because clocks of machines differ. */
  readonly renewTime: string;
  readonly acquireTime: string;
}

/** A lease as the API server has it. */
export interface StoredLease extends LeaseContent {
  readonly resourceVersion: string;
}

/** The state of a lease for a candidate: its own, free to take, or held by another one. */
export type LeaseVerdict = "ours" | "free" | "held";

/** Reads a Lease object; undefined if it is not one. A missing member counts as empty: such a lease is free. */
export function readLease(object: unknown): StoredLease | undefined {
  if (!isJsonObject(object) || !isJsonObject(object["metadata"])) return undefined;
  const { resourceVersion } = object["metadata"];
  if (typeof resourceVersion !== "string") return undefined;
  const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
  return {
    holder: textOf(spec["holderIdentity"]),
    durationSeconds: countOf(spec["leaseDurationSeconds"]),
    transitions: countOf(spec["leaseTransitions"]),
    renewTime: textOf(spec["renewTime"]),
    acquireTime: textOf(spec["acquireTime"]),
    resourceVersion,
  };
}

/**
 * Judges a lease. `unchangedMs` is the time on the candidate's own monotonic clock since it first saw this `renewTime` of this holder.
 */
export function judgeLease(lease: LeaseContent, identity: string, unchangedMs: number): LeaseVerdict {
  if (lease.holder === identity) return "ours";
  return lease.holder === "" || unchangedMs > lease.durationSeconds * 1000 ? "free" : "held";
}

/** The next content when `identity` takes or renews the lease at `now`, a time in RFC 3339. `before` is undefined for a new Lease. */
export function renewedLease(
  before: LeaseContent | undefined,
  { identity, durationSeconds, now }: { readonly identity: string; readonly durationSeconds: number; readonly now: string },
): LeaseContent {
  const isRenewal = before?.holder === identity;
  return {
    holder: identity,
    durationSeconds,
    transitions: (before?.transitions ?? 0) + (before === undefined || isRenewal ? 0 : 1),
    renewTime: now,
    acquireTime: isRenewal ? before.acquireTime : now,
  };
}

/** The content of a lease that its holder gives back, so that the next candidate takes it at once. */
export function releasedLease(before: LeaseContent, now: string): LeaseContent {
  // The API server demands a positive duration.
  return { ...before, holder: "", durationSeconds: 1, renewTime: now };
}

/** The Lease object. `resourceVersion` makes the write fail if another candidate wrote meanwhile; undefined: to be created. */
export function leaseObject(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { holder, durationSeconds, transitions, renewTime, acquireTime }: LeaseContent,
  resourceVersion: string | undefined,
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: durationSeconds,
      leaseTransitions: transitions,
      renewTime: microTime(renewTime),
      acquireTime: microTime(acquireTime),
    },
  };
}

/** The API's MicroTime has exactly six digits after the second. */
function microTime(time: string): string {
  const [, seconds = time, fraction = ""] = /^([^.Z]+)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, "0")}Z`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}
