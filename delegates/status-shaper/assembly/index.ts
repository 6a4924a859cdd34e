// A chained delegate that shapes the result of the plugins before it. README.md has its configuration.

import { AttachmentRequest, Fault, GcRequest, Network, SuccessOrFault } from "plexus/abi/plugin";
import { invalidConfig } from "plexus/faults";
import { disagreement } from "./agree";
import { applyTo } from "./apply";
import { Shape } from "./shape";

export function add(request: AttachmentRequest): SuccessOrFault {
  const shape = Shape.of(request.network);
  if (shape.fault !== null) return SuccessOrFault.err(shape.fault as Fault);
  const previous = request.prevResult;
  if (previous === null)
    return SuccessOrFault.err(invalidConfig("prevResult", "is missing: this plugin is chained behind others"));
  return applyTo(previous, shape);
}

export function check(request: AttachmentRequest): Fault | null {
  const shape = Shape.of(request.network);
  if (shape.fault !== null) return shape.fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "is missing: CHECK needs the attachment's result");
  return disagreement(result, shape);
}

/** There is nothing to take back, whatever the configuration says. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

/** Nothing is kept, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Nothing is needed that could be missing. */
export function status(_network: Network): Fault | null {
  return null;
}
