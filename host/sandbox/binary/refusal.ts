// Why a component is refused. Thrown inside host/sandbox/ only; `admit` turns it into a fault.

import type { FaultKind } from "../../../src/fault/catalogue.ts";

/** A refusal: what was found, and the byte of the component at which it stands. */
export class Refusal extends Error {
  readonly offset: number | undefined;
  readonly kind: FaultKind;

  constructor(reason: string, offset?: number, kind: FaultKind = "COMPONENT_REFUSED") {
    super(reason);
    this.name = "Refusal";
    this.offset = offset;
    this.kind = kind;
  }
}

/** Refuses: `reason` names what was found; `offset` counts from the component's first byte. */
export function refuse(reason: string, offset?: number, kind?: FaultKind): never {
  throw new Refusal(reason, offset, kind);
}
