// Probes of the kernel: requests of networks and features, sent in a network namespace of doctor's own. The kernel's answer counts and not its version,
// because distributions build kernels without parts and add parts to older ones.

import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import { openOwnNetworkNamespace } from "../../system/libc/own-network-namespace.ts";
import { systemError } from "../../system/system-error.ts";
import { failed, type NodeCheck, noted, passed } from "./node-check.ts";

/** A part of the kernel that networks or features of the node need. */
export interface KernelProbe {
  /** The part, in one word: `policies`, `vlan`. */
  readonly name: string;
  /** The networks or the key of the configuration, in a phrase: `network storage`. */
  readonly neededBy: string;
  readonly remedy: string;
  /** Sends the requests. Answers the reason of the first refusal; undefined: the kernel has the part. */
  readonly run: (kernel: NetlinkSender) => Promise<string | undefined>;
}

const why = "an ADD that needs it fails";

/** Tries each probe in a namespace of its own. Without the right to make one, a note says so, with `remedy`. */
export async function checkKernel(probes: readonly KernelProbe[], remedy: string): Promise<readonly NodeCheck[]> {
  const checks: NodeCheck[] = [];
  for (const probe of probes) checks.push(await tryProbe(probe, remedy));
  return checks;
}

async function tryProbe({ name: part, neededBy, remedy, run }: KernelProbe, untried: string): Promise<NodeCheck> {
  const name = `kernel-${part}`;
  const kernel = openOwnNetworkNamespace();
  if ("errno" in kernel) {
    const found = `not tried for ${neededBy}: a network namespace is refused (${systemError(kernel.errno)})`;
    return noted(name, found, why, untried);
  }
  try {
    const refused = await run(kernel);
    if (refused === undefined) return passed(name, `works; needed by ${neededBy}`);
    const found = `the kernel refuses what is needed by ${neededBy}: ${refused}`;
    return failed(name, found, why, remedy);
  } finally {
    kernel.close();
  }
}
