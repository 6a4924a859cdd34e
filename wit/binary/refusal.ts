// The reason for which a component is refused. Thrown only inside host/sandbox/; `admit` converts it to a fault.

import type { FaultKind } from "../../src/fault/catalogue.ts";

/** A refusal: the refused construct, and its byte offset in the component. */
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

/** Throws a Refusal: `reason` names the refused construct, `offset` is its byte offset in the component. */
export function refuse(reason: string, offset?: number, kind?: FaultKind): never {
  throw new Refusal(reason, offset, kind);
}
