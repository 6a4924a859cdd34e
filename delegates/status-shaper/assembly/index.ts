// A chained delegate that shapes the previous plugins' result. README.md has its configuration.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { invalidConfig } from "plexus/faults";
import { disagreement } from "./agree";
import { applyTo } from "./apply";
import { Shape } from "./shape";

/** Answers the shaped prevResult. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const shape = Shape.of(request.network);
  if (shape.fault !== null) return SuccessOrFault.err(shape.fault as Fault);
  const previous = request.prevResult;
  if (previous === null)
    return SuccessOrFault.err(invalidConfig("prevResult", "is missing: status-shaper must follow other plugins in the list"));
  return applyTo(previous, shape);
}

/** Answers code 101 with the first difference between result and configuration. */
export function check(request: AttachmentRequest): Fault | null {
  const shape = Shape.of(request.network);
  if (shape.fault !== null) return shape.fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "is missing: CHECK needs the attachment's result");
  return disagreement(result, shape);
}

/** There is nothing to undo, whatever the configuration is. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

/** No state is kept, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** No resources are needed, so none can be missing. */
export function status(_request: StatusRequest): Fault | null {
  return null;
}
