// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// A delegate's exports: one function for each verb. There is no function for VERSION: the host answers it from the
// versions in the delegate's declaration.

export { AttachmentRequest } from "./types";
export { GcRequest } from "./types";
export { StatusRequest } from "./types";
export { Success } from "./types";
export { Fault } from "./types";
export { SuccessOrFault } from "./compounds";

// A guest that exports this interface exports these functions:
//   function add(request: AttachmentRequest): SuccessOrFault
//   function del(request: AttachmentRequest): Fault | null
//   function check(request: AttachmentRequest): Fault | null
//   function gc(request: GcRequest): Fault | null
//   function status(request: StatusRequest): Fault | null
