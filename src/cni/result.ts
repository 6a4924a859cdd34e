// The result of an ADD (CNI 1.1.0 section 5), in the shape of 1.1.0 regardless of the version in which it was printed.

import type { CniVersion } from "./versions.ts";

/** An interface of a result. */
export interface ResultInterface {
  readonly name: string;
  readonly mac?: string;
  /** In bytes. */
  readonly mtu?: number;
  /** Path of the network namespace; absent for an interface of the host. */
  readonly sandbox?: string;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address of a result. */
export interface ResultIp {
  /** Canonical text with the prefix length, host bits kept. */
  readonly address: string;
  readonly gateway?: string;
  /** Index into `interfaces`. Some plugins write a negative index for "none". */
  readonly interface?: number;
}

/** A route of a result. */
export interface ResultRoute {
  /** Prefix in canonical text. */
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

/** Name resolution settings of a result. */
export interface ResultDns {
  readonly nameservers: readonly string[];
  readonly domain?: string;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** A result of any version, in the shape of 1.1.0. */
export interface CniResult {
  /** The version in which the result was printed. */
  readonly cniVersion: CniVersion;
  readonly interfaces: readonly ResultInterface[];
  readonly ips: readonly ResultIp[];
  readonly routes: readonly ResultRoute[];
  /** Absent if it has no content. */
  readonly dns?: ResultDns;
}

/** A result as printed, and parsed. The text is passed on along the chain. */
export interface PluginResult {
  /** JSON text in the shape of `result.cniVersion`, which it names. */
  readonly text: string;
  readonly result: CniResult;
}
