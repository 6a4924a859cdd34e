// The delegate's own error codes (100 and up); README.md lists them.

/** The node has no device of the configured ID. */
export const NO_DEVICE: u32 = 100;
/** IPAM answered no address. */
export const NO_ADDRESS: u32 = 101;
