// Pools for tests.

import { type AddressPool, readAddressPool } from "../address-pool.ts";

/** Reads a pool from its specification. Throws the problem. */
export function poolOf(spec: object, more: { readonly name?: string; readonly status?: object } = {}): AddressPool {
  const { name = "storage", status = {} } = more;
  const read = readAddressPool({ metadata: { name, uid: "u", resourceVersion: "1" }, spec, status });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
