// Which components' imports may wait: their calls are suspended meanwhile, so that neither a thread nor a process waits with them.

/** What answers at once, or after the short while that a file's lock takes. */
const atOnce: readonly string[] = ["log", "leases", "resolver"];

/** Whether a component with these capabilities is called so that its imports may wait for the network, for the kernel or for other guests. */
export function mayWait(capabilities: readonly string[]): boolean {
  return capabilities.some((name) => !atOnce.includes(name));
}
