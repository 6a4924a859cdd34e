// Reads the leases of native host-local: a file named after its address, with the container's id and, since host-local 0.7, the interface's name.

import { quote } from "../../../../src/json/quote.ts";
import { readAddress } from "../../../../src/net/ip.ts";
import type { HeldAddress } from "./held-address.ts";

/** A lease's owner, that the file's name is no address, or a problem with the lease. */
export type LeaseReading =
  | { readonly kind: "held"; readonly held: HeldAddress }
  | { readonly kind: "no-lease" }
  | { readonly kind: "problem"; readonly problem: string };

/** Characters of container ids and interface names: CNI's own rules are narrower. */
const word = /^[\x21-\x7e]{1,253}$/;

/** Reads a lease. `name` is the file's name, `path` its whole path for messages. */
export function readHostLocalLease(name: string, content: string, path: string): LeaseReading {
  const address = readAddress(name);
  if (address === undefined) return { kind: "no-lease" };
  const lines = content.trim().split(/\r?\n/);
  const [containerId = "", ifname = ""] = lines;
  if (lines.length > 2 || !word.test(containerId) || (ifname !== "" && !word.test(ifname))) {
    const shown = quote(content, 60);
    return {
      kind: "problem",
      problem: `${path}: a lease has a container's id and an interface's name, but the file has ${shown}`,
    };
  }
  return { kind: "held", held: { address, owner: { containerId, ifname, podNamespace: "", podName: "" }, source: path } };
}
