// The refusals of simulated links.

/** The kernel's refusal of an operation. */
export class Refusal extends Error {}
