// `spec.conflictDetection` of a pool: main plugins ask the wire before a pod gets an address of the pool (RFC 5227, RFC 4862).

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { readInteger } from "./object-reading.ts";

/** The settings, as `ipam.conflictDetection` of a step has them. Absent members have the delegate's defaults. */
export interface PoolDetection {
  /** Milliseconds in which a host may answer, after each probe. */
  readonly waitMs?: number;
  readonly probes?: number;
  /** Whether the gateways of the addresses must answer. */
  readonly detectGateway?: boolean;
}

/** Bounds of the settings, which the CustomResourceDefinition and the delegates have as well. `milliseconds`: `waitMs` times `probes`. */
export const detectionBounds = { waitMs: 10_000, probes: 10, milliseconds: 10_000 } as const;
/** The delegates' defaults (delegates/sdk/assembly/conflict-detection.ts). */
const defaults = { waitMs: 250, probes: 2 } as const;

/** Reads the settings; undefined: the pool has none. */
export function readDetection(value: unknown): Reading<PoolDetection | undefined> {
  if (value === undefined || value === null) return { ok: true, value: undefined };
  const where = "spec.conflictDetection";
  if (!isJsonObject(value)) return problem(`${where} is ${describeJson(value)}; it must be an object`);
  const { waitMs: wait, probes: count, detectGateway } = value;
  const waitMs = readInteger(wait ?? defaults.waitMs, `${where}.waitMs`, 1, detectionBounds.waitMs);
  if (!waitMs.ok) return waitMs;
  const probes = readInteger(count ?? defaults.probes, `${where}.probes`, 1, detectionBounds.probes);
  if (!probes.ok) return probes;
  if (waitMs.value * probes.value > detectionBounds.milliseconds)
    return problem(
      `${where}: waitMs times probes is ${waitMs.value * probes.value}; at most ${detectionBounds.milliseconds} are allowed`,
    );
  if (detectGateway !== undefined && typeof detectGateway !== "boolean")
    return problem(`${where}.detectGateway is ${describeJson(detectGateway)}; it must be true or false`);
  return {
    ok: true,
    value: {
      ...(wait === undefined ? {} : { waitMs: waitMs.value }),
      ...(count === undefined ? {} : { probes: probes.value }),
      ...(detectGateway === undefined ? {} : { detectGateway }),
    },
  };
}
