// Error codes of main plugins that the specification leaves to a plugin (100 and up).

/** The master does not exist, or none is configured and there is no default route. */
export const NO_MASTER: u32 = 100;
/** IPAM answered no address. */
export const NO_ADDRESS: u32 = 101;
/** CHECK: the interface differs from the result. */
export const DIFFERS: u32 = 102;
