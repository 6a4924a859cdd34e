// CNI versions: the supported ones, their order, and the version that a configuration list speaks (CNI 1.1.0 section 1).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";

/** Every supported version, oldest first. */
export const SUPPORTED_VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** See `SUPPORTED_VERSIONS`. */
export type CniVersion = (typeof SUPPORTED_VERSIONS)[number];

/** The newest supported version. */
export const CURRENT_VERSION: CniVersion = "1.1.0";

/** The meaning of an absent or empty cniVersion. */
export const DEFAULT_VERSION: CniVersion = "0.1.0";

/**
 * Versions of one group share the shape of their results (L-51): `020` = 0.1.0-0.2.0, `040` = 0.3.0-0.4.0, `100` = 1.0.0-1.1.0.
 */
export type VersionGroup = "020" | "040" | "100";

const GROUP_OF: Readonly<Record<CniVersion, VersionGroup>> = {
  "0.1.0": "020",
  "0.2.0": "020",
  "0.3.0": "040",
  "0.3.1": "040",
  "0.4.0": "040",
  "1.0.0": "100",
  "1.1.0": "100",
};

/** The version's group. */
export function versionGroup(version: CniVersion): VersionGroup {
  return GROUP_OF[version];
}

/** Whether Plexus supports the version. */
export function isSupportedVersion(text: string): text is CniVersion {
  return Object.hasOwn(GROUP_OF, text);
}

/** The version named by a configuration or result; empty means 0.1.0. Fault: VERSION_UNSUPPORTED (1). */
export function toVersion(text: string): Result<CniVersion> {
  const named = text === "" ? DEFAULT_VERSION : text;
  if (isSupportedVersion(named)) return ok(named);
  return failed(fault("VERSION_UNSUPPORTED", `cniVersion ${quote(text, 40)} is not one of ${SUPPORTED_VERSIONS.join(", ")}`));
}

/** A parsed version. */
export type VersionNumbers = readonly [major: number, minor: number, micro: number];

/** Parses one to three numbers with dots between; empty means 0.1.0. Fault: CONFIG_INVALID (7). */
export function parseVersion(text: string): Result<VersionNumbers> {
  if (text === "") return ok([0, 1, 0]);
  const parts = text.split(".");
  if (parts.length > 3) return failed(fault("CONFIG_INVALID", `invalid version ${quote(text, 40)}: too many parts`));
  const wrong = parts.find((part) => !/^[0-9]{1,9}$/.test(part));
  if (wrong !== undefined) {
    return failed(fault("CONFIG_INVALID", `invalid version ${quote(text, 40)}: ${quote(wrong, 40)} is not a number`));
  }
  const [major = 0, minor = 0, micro = 0] = parts.map(Number);
  return ok([major, minor, micro]);
}

/** Negative, zero or positive, as `sort` expects. */
function compareVersions(left: VersionNumbers, right: VersionNumbers): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** Whether the version in `text` is `floor` or later. Fault: CONFIG_INVALID (7) if `text` is not a version. */
export function versionAtLeast(text: string, floor: CniVersion): Result<boolean> {
  const version = parseVersion(text);
  if (!version.ok) return version;
  const bound = parseVersion(floor);
  if (!bound.ok) return bound;
  return ok(compareVersions(version.value, bound.value) >= 0);
}

/**
 * The version that a list speaks (L-16): the highest of `cniVersions` and `cniVersion` that is at most 1.1.0; `cniVersion` itself
 * if all are higher. Fault: CONFIG_INVALID (7) if an entry is not a version.
 */
export function negotiateVersion(cniVersion: string, cniVersions: readonly string[]): Result<string> {
  const current: VersionNumbers = [1, 1, 0];
  let best: { readonly text: string; readonly numbers: VersionNumbers } | undefined;
  for (const text of cniVersion === "" ? cniVersions : [...cniVersions, cniVersion]) {
    const numbers = parseVersion(text);
    if (!numbers.ok) return numbers;
    if (compareVersions(numbers.value, current) > 0) continue;
    const order = best === undefined ? 1 : compareVersions(numbers.value, best.numbers);
    // "1.0" equals "1.0.0"; the spelling that plugins know wins.
    if (order > 0 || (order === 0 && isSupportedVersion(text))) best = { text, numbers: numbers.value };
  }
  return ok(best?.text ?? cniVersion);
}
