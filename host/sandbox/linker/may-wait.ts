// Decides which components' calls are suspended during an import, so that neither a thread nor a process waits with them.

/** Capabilities that answer immediately, or after the short wait for a file's lock. */
const immediateCapabilities: readonly string[] = ["log", "leases", "resolver"];

/** Capabilities that never wait, not even for a file's lock. */
const capabilitiesWithoutWait: readonly string[] = ["log", "resolver"];

/** Whether every import of a component with these capabilities answers synchronously. */
export function answersAtOnce(capabilities: readonly string[]): boolean {
  return capabilities.every((name) => capabilitiesWithoutWait.includes(name));
}

/** Whether an import of a component with these capabilities may wait for the network, the kernel or another guest. */
export function mayWait(capabilities: readonly string[]): boolean {
  return capabilities.some((name) => !immediateCapabilities.includes(name));
}
