// Converts a CNI result to the record `success` of the WIT contract, and back.

import { printResult } from "../../../src/cni/convert-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { Success } from "./generated/delegate-1.1.0.ts";

/** The record for a result of any version. */
export function toSuccess({ interfaces, ips, routes, dns }: CniResult): Success {
  return {
    interfaces: interfaces.map(({ pciID, ...rest }) => ({ ...rest, pciId: pciID })),
    ips,
    routes,
    dns,
  };
}

/** A delegate's answer to ADD as JSON text in `cniVersion`, like the output of a native plugin. Fault: the version is unknown. */
export function successText(success: Success, cniVersion: string): Result<string> {
  const version = toVersion(cniVersion);
  if (!version.ok) return version;
  return printResult({ ...withoutUndefined(success), cniVersion: version.value }, version.value);
}

/** A record of the ABI has `undefined` for an absent member; a `CniResult` has no such member. */
function withoutUndefined({ interfaces, ips, routes, dns }: Success): Omit<CniResult, "cniVersion"> {
  return {
    interfaces: interfaces.map(({ pciId, ...rest }) => definedMembers({ ...rest, pciID: pciId })),
    ips: ips.map(definedMembers),
    routes: routes.map(definedMembers),
    ...(dns === undefined ? {} : { dns: definedMembers(dns) }),
  };
}

type DefinedMembers<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function definedMembers<T extends object>(record: T): DefinedMembers<T> {
  const defined: Record<string, unknown> = {};
  for (const key in record) {
    const value: unknown = record[key];
    if (value !== undefined) defined[key] = value;
  }
  return defined as DefinedMembers<T>;
}
