// Why an effect could not be done in a pod's network namespace, as the capabilities say it.

import { type Fault, fault } from "../../src/fault/fault.ts";
import type { FaultKind } from "../../src/fault/catalogue.ts";
import { quote } from "../../src/json/quote.ts";
import { systemError } from "../netlink/system-error.ts";

const EXDEV = 18;

/**
 * Of an effect that was not sent. `capability`: whose. A namespace that is the hands' own by another name is the runtime's mistake
 * (ENVIRONMENT_INVALID); anything else is of the kind given, also that the attachment has no namespace (`netns` empty).
 */
export function unreachable(kind: FaultKind, capability: string, netns: string, errno: number): Fault {
  if (netns === "") return fault(kind, `${capability}: the pod has no network namespace (any more)`);
  const namespace = `${capability}: the pod's network namespace ${quote(netns)}`;
  if (errno === EXDEV)
    return fault("ENVIRONMENT_INVALID", `${namespace} is the node's own: nothing is done in it for a delegate`);
  return fault(kind, `${namespace} could not be entered: ${systemError(errno)}`);
}
