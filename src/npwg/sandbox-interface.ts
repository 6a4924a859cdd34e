// Which interface of a result is the attachment's: the first one in a sandbox (NPWG 5.1.1 and 5.3.2.1), and whose the addresses are.

import type { CniResult, ResultInterface, ResultIp } from "../cni/result.ts";

export interface SandboxInterface {
  /** Position in the result's `interfaces`. */
  readonly index: number;
  readonly interface: ResultInterface;
}

/** The result's interfaces that are in a sandbox, in its order. */
export function sandboxInterfaces(result: CniResult): readonly SandboxInterface[] {
  return result.interfaces.flatMap((each, index) =>
    each.sandbox === undefined || each.sandbox === "" ? [] : [{ index, interface: each }],
  );
}

/** The addresses whose `interface` is this one. */
export function addressesOf(result: CniResult, index: number): readonly ResultIp[] {
  return result.ips.filter((ip) => ip.interface === index);
}

/** The addresses that name no interface: none at all, or a negative number. */
export function unboundAddresses(result: CniResult): readonly ResultIp[] {
  return result.ips.filter((ip) => ip.interface === undefined || ip.interface < 0);
}
