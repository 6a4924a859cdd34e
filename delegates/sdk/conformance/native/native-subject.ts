// A native CNI plugin under test.

import { resolve, basename } from "node:path";
import type { Setup } from "../setup.ts";
import type { Subject } from "../subject.ts";
import { NativeNode } from "./native-node.ts";

/**
 * The plugin in a file. The process must be in network and mount namespaces of its own, with an empty /run. `withoutNamespaces`: the reason
 * why it is not; only checks that need no network namespace run then.
 */
export function nativeSubject(file: string, withoutNamespaces: string | undefined): Subject {
  const path = resolve(file);
  return {
    kind: "native",
    type: basename(path),
    openNode: (setup: Setup) => NativeNode.open(path, setup, withoutNamespaces),
  };
}
