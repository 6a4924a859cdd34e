// The delegate's own error codes (100 and up); README.md lists them.

/** There is no such master, or none was named and there is no default route. */
export const NO_MASTER: u32 = 100;
/** IPAM gave no address. */
export const NO_ADDRESS: u32 = 101;
/** CHECK: the interface is not as the result says. */
export const DIFFERS: u32 = 102;
