// Compares the result of a native step with that of its shadow.

import type { CniResult } from "../cni/result.ts";
import { type JsonChange, jsonChanges } from "../json/json-changes.ts";

/** Maximum number of listed differences. */
const maxDifferences = 20;

/**
 * The differences from the native step's result to the shadow's, as changes with JSON pointers. The version in which a result was printed
 * is no difference, and neither is an empty list in place of an absent one.
 */
export function stepDifferences(native: CniResult, shadow: CniResult): readonly JsonChange[] {
  return jsonChanges(contentOf(native), contentOf(shadow), maxDifferences).changes;
}

/**
 * The differences of an IPAM shadow from what the native main plugin reports of its own IPAM plugin: the addresses with their gateways. Each
 * route of the shadow must be in the main plugin's result, which may have further routes. The main plugin may replace the name servers, so
 * these are not compared.
 */
export function ipamDifferences(main: CniResult, shadow: CniResult): readonly JsonChange[] {
  const routes = new Set(main.routes.map(({ dst, gw }) => routeText(dst, gw)));
  const missing = shadow.routes.filter(({ dst, gw }) => !routes.has(routeText(dst, gw)));
  const before = { ips: addressesOf(main), routes: [] };
  const after = { ips: addressesOf(shadow), routes: missing.map(({ dst, gw }) => ({ dst, gw })) };
  return jsonChanges(before, after, maxDifferences).changes;
}

/** A value that a shadow would have set, and the value that the native step has left. */
export interface IntendedValue {
  /** A JSON pointer, such as `/sysctl/net~1ipv4~1ip_forward`. */
  readonly path: string;
  readonly intended: unknown;
  readonly actual: unknown;
}

/** The values that a shadow would have set otherwise than the native step. */
export function effectDifferences(values: readonly IntendedValue[]): readonly JsonChange[] {
  return values.flatMap(({ path, intended, actual }) => {
    const { changes } = jsonChanges(actual, intended, maxDifferences);
    return changes.map((change) => ({ ...change, path: `/effects${path}${change.path}` }));
  });
}

function contentOf({ interfaces, ips, routes, dns }: CniResult): object {
  return { interfaces, ips, routes, ...(dns === undefined ? {} : { dns }) };
}

function addressesOf({ ips }: CniResult): readonly object[] {
  return ips.map(({ address, gateway }) => ({ address, gateway }));
}

function routeText(dst: string, gw: string | undefined): string {
  // The main plugin of a list fills in the gateway of a route without one.
  return gw === undefined ? dst : `${dst} via ${gw}`;
}
