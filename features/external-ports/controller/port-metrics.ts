// The metric of external ports, from their conditions.

import type { ExternalPort } from "../rules/external-port.ts";
import type { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import { type PortMetrics, portMetrics } from "../metrics.ts";
import { conditionOf, readyReasons } from "./status.ts";

const { state: states } = portMetrics.plexus_controller_external_ports.labels;
type PortState = (typeof states)[number];
const failures = ["unavailable", "quota", "invalid", "refused"] as const;

/** Sets the number of listed ports in each state. Each configured provider has all states, so that a query sees 0 and not an absent series. */
export function setPortMetrics(
  metrics: MetricsOf<PortMetrics>,
  ports: Iterable<{ readonly value: ExternalPort }>,
  providers: Iterable<string>,
): void {
  const counts = new Map([...providers].map((provider) => [provider, new Map<PortState, number>()]));
  for (const { value: port } of ports) {
    const { provider } = port.spec;
    const ofProvider = counts.get(provider) ?? new Map<PortState, number>();
    const state = stateOf(port);
    counts.set(provider, ofProvider.set(state, (ofProvider.get(state) ?? 0) + 1));
  }
  metrics.replace(
    "plexus_controller_external_ports",
    [...counts].flatMap(([provider, ofProvider]) =>
      states.map((state) => ({ labels: { provider, state }, value: ofProvider.get(state) ?? 0 })),
    ),
  );
}

function stateOf(port: ExternalPort): PortState {
  if (port.isDeleted) return "deleted";
  const ready = conditionOf(port, "Ready");
  if (ready?.status === "True") return "ready";
  return failures.find((reason) => readyReasons[reason] === ready?.reason) ?? "unanswered";
}
