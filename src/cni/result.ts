// What an ADD answers (CNI 1.1.0 section 5), in the shape of 1.1.0 whatever version it was printed in.

import type { CniVersion } from "./versions.ts";

export interface ResultInterface {
  readonly name: string;
  readonly mac?: string;
  /** In bytes. */
  readonly mtu?: number;
  /** Path of the namespace; absent for an interface of the host. */
  readonly sandbox?: string;
  readonly socketPath?: string;
  readonly pciID?: string;
}

export interface ResultIp {
  /** Canonical text with the prefix length, host bits kept. */
  readonly address: string;
  readonly gateway?: string;
  /** Index into `interfaces`; some plugins write a negative one for "none". */
  readonly interface?: number;
}

export interface ResultRoute {
  /** Canonical text of a prefix. */
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

export interface ResultDns {
  readonly nameservers: readonly string[];
  readonly domain?: string;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

export interface CniResult {
  /** The version that it was printed in. */
  readonly cniVersion: CniVersion;
  readonly interfaces: readonly ResultInterface[];
  readonly ips: readonly ResultIp[];
  readonly routes: readonly ResultRoute[];
  /** Absent where it says nothing. */
  readonly dns?: ResultDns;
}

/** A result as its printer wrote it, and what it says. The text is what goes on down the chain. */
export interface PluginResult {
  /** JSON text, in `result.cniVersion`'s shape, that names this version. */
  readonly text: string;
  readonly result: CniResult;
}
