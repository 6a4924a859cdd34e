// The attachment's interface in a result: the first one in a sandbox (NPWG 5.1.1 and 5.3.2.1); and the addresses of each
// interface.

import type { CniResult, ResultInterface, ResultIp } from "../cni/result.ts";

/** An interface of a result that is in a sandbox. */
export interface SandboxInterface {
  /** Position in the result's `interfaces`. */
  readonly index: number;
  readonly interface: ResultInterface;
}

/** The result's interfaces in a sandbox, in the result's order. */
export function sandboxInterfaces(result: CniResult): readonly SandboxInterface[] {
  return result.interfaces.flatMap((each, index) =>
    each.sandbox !== undefined && isSandbox(each.sandbox) ? [{ index, interface: each }] : [],
  );
}

/** AWS VPC CNI writes a number of a device, `"0"`, as the sandbox of an interface that is none. */
function isSandbox(text: string): boolean {
  return text !== "" && !/^\d+$/.test(text);
}

/** The addresses that refer to this interface. */
export function addressesOf(result: CniResult, index: number): readonly ResultIp[] {
  return result.ips.filter((ip) => ip.interface === index);
}

/** The addresses that refer to no interface: the field is absent or negative. */
export function unboundAddresses(result: CniResult): readonly ResultIp[] {
  return result.ips.filter((ip) => ip.interface === undefined || ip.interface < 0);
}
