// The controller's metrics of address pools.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const poolMetrics = {
  plexus_controller_pool_blocks: {
    type: "gauge",
    help: "Blocks of an AddressPool: all claimed ones, and those of them whose node is gone, or whose addresses are not the pool's.",
    labels: { pool: "open", state: ["claimed", "orphaned", "foreign"] },
  },
  plexus_controller_pool_addresses: {
    type: "gauge",
    help: "Addresses of an AddressPool in claimed blocks and in no block, without static ones.",
    labels: { pool: "open", family: ["IPv4", "IPv6"], state: ["in-blocks", "free"] },
  },
  plexus_controller_pool_reservations: {
    type: "gauge",
    help: "AddressReservations of an AddressPool.",
    labels: { pool: "open" },
  },
  plexus_controller_pool_blocks_freed_total: {
    type: "counter",
    help: "Blocks of nodes that are gone, which the controller has freed.",
    labels: {},
  },
} as const satisfies Record<string, MetricDefinition>;

/** The type of these definitions. */
export type PoolMetrics = typeof poolMetrics;
