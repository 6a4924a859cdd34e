// Metrics of pools, from their statuses.

import { isJsonObject } from "../../../src/json/document.ts";
import type { PoolMetrics } from "../metrics.ts";
import type { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import type { PoolCollections } from "./collections.ts";

const blockStates = ["claimed", "orphaned", "foreign"] as const;

/** Sets the values of all pools. A pool without a status yet has none. */
export function setPoolMetrics(metrics: MetricsOf<PoolMetrics>, collections: PoolCollections): void {
  const pools = [...collections.pools.all()].map(({ name, value }) => ({ name, status: asObject(value.status) }));
  metrics.replace(
    "plexus_controller_pool_blocks",
    pools.flatMap(({ name, status }) => {
      const blocks = asObject(status["blocks"]);
      return blockStates.map((state) => ({ labels: { pool: name, state }, value: numberOf(blocks[state]) }));
    }),
  );
  metrics.replace(
    "plexus_controller_pool_addresses",
    pools.flatMap(({ name, status }) => {
      const families: readonly unknown[] = Array.isArray(status["addresses"]) ? status["addresses"] : [];
      return families.flatMap((each) => {
        const { family, inBlocks, free } = asObject(each);
        if (family !== "IPv4" && family !== "IPv6") return [];
        return [
          { labels: { pool: name, family, state: "in-blocks" as const }, value: numberOf(inBlocks) },
          { labels: { pool: name, family, state: "free" as const }, value: numberOf(free) },
        ];
      });
    }),
  );
  metrics.replace(
    "plexus_controller_pool_reservations",
    pools.map(({ name, status }) => ({ labels: { pool: name }, value: numberOf(asObject(status["static"])["reserved"]) })),
  );
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

/** A number, or the text of one; 0 for anything else. */
function numberOf(value: unknown): number {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : 0;
}
