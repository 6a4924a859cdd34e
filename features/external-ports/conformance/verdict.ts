// How a check ends without passing.

/** The provider breaks the rule. The message says how, for its author. */
export class Violation extends Error {}

/** The check cannot decide. The message is the reason. */
export class Skip extends Error {}

/** Throws a Violation with the message unless `holds` is true. */
export function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Violation(message);
}
