// The exception with which the host ends a guest's call. It passes through the guest's frames and differs from the guest's own traps.

import type { FaultKind } from "../../../src/fault/catalogue.ts";

/** A limit was reached or the ABI was violated. The message continues "the delegate …". */
export class GuestFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.name = "GuestFault";
    this.kind = kind;
  }
}
