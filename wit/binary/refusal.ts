// The reason for which a binary is refused. Admission converts the exception to a fault of the same kind.

/** The rule that the refused construct breaks: the rules for delegates, or the memory limit of the call. Both are kinds of src/fault/catalogue.ts. */
export type RefusalKind = "COMPONENT_REFUSED" | "LIMIT_MEMORY";

/** A refusal: the refused construct, and its byte offset in the binary. */
export class Refusal extends Error {
  readonly offset: number | undefined;
  readonly kind: RefusalKind;

  constructor(reason: string, offset?: number, kind: RefusalKind = "COMPONENT_REFUSED") {
    super(reason);
    this.name = "Refusal";
    this.offset = offset;
    this.kind = kind;
  }
}

/** Throws a Refusal: `reason` names the refused construct, `offset` is its byte offset in the binary. */
export function refuse(reason: string, offset?: number, kind?: RefusalKind): never {
  throw new Refusal(reason, offset, kind);
}
