// The delegate's own error codes (100 and up); README.md lists them.

/** The master does not exist. */
export const NO_MASTER: u32 = 100;
/** CHECK: the interface or the port differs from the result. */
export const DIFFERS: u32 = 101;
