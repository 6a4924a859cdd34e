// Removes the links that a benchmark made on the host.

import { inHost } from "../test/lab/namespaces.ts";

/** Removes these links. A link that does not exist is passed over: the benchmark failed before its first ADD. */
export function removeLinks(...names: readonly string[]): void {
  for (const name of names) {
    try {
      inHost(["ip", "link", "delete", name]);
    } catch {
      // The link does not exist.
    }
  }
}
