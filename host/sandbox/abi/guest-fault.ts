// What ends a guest's call from the host's side: thrown through the guest's frames, told apart from its own traps.

import type { FaultKind } from "../../../src/fault/catalogue.ts";

/** A limit reached or the ABI broken; the message continues "the delegate …". */
export class GuestFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.name = "GuestFault";
    this.kind = kind;
  }
}
