// The delegate's own error codes (100 and up); README.md lists them.

/** The pod lacks the interface. */
export const NO_LINK: u32 = 100;
/** CHECK: a value differs from the configuration. */
export const DIFFERS: u32 = 101;
