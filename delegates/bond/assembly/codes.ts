// The delegate's own error codes (100 and up); README.md lists them.

/** A member is not in the pod. */
export const NO_MEMBER: u32 = 100;
