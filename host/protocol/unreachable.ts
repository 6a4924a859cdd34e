// The fault of an effect that could not be carried out in a pod's network namespace.

import { type Fault, fault } from "../../src/fault/fault.ts";
import type { FaultKind } from "../../src/fault/catalogue.ts";
import { quote } from "../../src/json/quote.ts";
import { systemError } from "../system/system-error.ts";
import { EMSGSIZE, ENOBUFS, ETIMEDOUT, EXDEV } from "../system/errno.ts";

/** The errnos of an answer that did not come whole. */
const cutOff: readonly number[] = [EMSGSIZE, ENOBUFS, ETIMEDOUT];

/**
 * The fault of an effect in the network namespace `netns` that the shim could not enter; `capability` begins the message. Fault
 * ENVIRONMENT_INVALID if the namespace is the shim's own (EXDEV), which is the runtime's mistake; otherwise a fault of `kind`.
 */
export function unreachable(kind: FaultKind, capability: string, netns: string, errno: number): Fault {
  if (netns === "") return fault(kind, `${capability}: the pod has no network namespace (any more)`);
  const namespace = `${capability}: the pod's network namespace ${quote(netns)}`;
  if (errno === EXDEV)
    return fault(
      "ENVIRONMENT_INVALID",
      `CNI_NETNS: ${namespace} is the node's own; Plexus acts for an attachment only in a pod's namespace`,
    );
  if (!cutOff.includes(errno)) return fault(kind, `${namespace} could not be entered: ${systemError(errno)}`);
  const why = "perhaps a process of the pod has made more links, addresses or routes than one answer of the kernel holds";
  return fault(kind, `${namespace} was entered, and the kernel's answer is incomplete: ${systemError(errno)}; ${why}`);
}
