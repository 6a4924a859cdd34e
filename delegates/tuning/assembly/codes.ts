// The delegate's own error codes (100 and up); README.md lists them.

/** The pod has no such interface. */
export const NO_LINK: u32 = 100;
/** CHECK: something is not as the configuration asks. */
export const DIFFERS: u32 = 101;
