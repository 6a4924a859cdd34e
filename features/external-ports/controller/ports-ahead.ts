// The looks at the ports that a provider makes ahead: at the begin of a term, when a pool runs low, and now and then.

import { isJsonObject } from "../../../src/json/document.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import type { PortMetrics } from "../metrics.ts";
import { failure, type PortProvider, type ProviderFailure } from "./provider.ts";
import { pause } from "../../../host/system/pause.ts";

/** Pause between looks at full pools, in ms. */
const intervalMs = 60_000;
/** Pause between looks for ports to give back while no pool is configured, in ms. */
const noPoolMs = 300_000;
/** Pause after the first failure, in ms, and after many: pods' own ports come first, so pools send few requests to a fabric that refuses. */
const firstPauseMs = 30_000;
const maxPauseMs = 300_000;
/** Pause between two looks at least, in ms. */
const minPauseMs = 200;

/** Keeps the provider's pools filled until `signal` is aborted. */
export async function keepPortsAhead(
  context: PartContext,
  name: string,
  { ahead }: PortProvider,
  signal: AbortSignal,
): Promise<void> {
  if (ahead === undefined) return;
  let failures = 0;
  while (!signal.aborted) {
    // A mistake in one provider must not end the controller.
    const kept = await ahead
      .keep()
      .catch((error: unknown) => failure("unavailable", error instanceof Error ? error.message : String(error)));
    if (kept.ok) {
      failures = 0;
      await pause(minPauseMs, signal);
      const ended = new AbortController();
      const stop = AbortSignal.any([signal, ended.signal]);
      await Promise.race([ahead.untilLow(), pause(kept.value.size === 0 ? noPoolMs : intervalMs, stop)]);
      ended.abort();
    } else {
      await tell(context, name, kept);
      await pause(Math.max(Math.min(firstPauseMs * 2 ** failures, maxPauseMs), kept.pauseMs ?? 0), signal);
      failures += 1;
    }
  }
}

/** Sets the metric of each provider's free ports, at each scrape. */
export function observePortsAhead(
  metrics: MetricsOf<PortMetrics>,
  providers: ReadonlyMap<string, { readonly provider: PortProvider }>,
): void {
  metrics.onScrape(() => {
    for (const [name, { provider }] of providers) {
      for (const [subnet, free] of provider.ahead?.free() ?? []) {
        metrics.set("plexus_controller_ports_ahead", { provider: name, subnet }, free);
      }
    }
  });
}

/** The Event is about the controller's Lease: a pool belongs to no object. */
async function tell(
  { objects, lease, event, log }: PartContext,
  provider: string,
  { reason, message }: ProviderFailure,
): Promise<void> {
  const text = `provider "${provider}": ports cannot be made ahead: ${message}`;
  log("warn", text);
  const { namespace, name } = lease;
  const answer = await objects.get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
  const metadata = answer.kind === "object" && isJsonObject(answer.object["metadata"]) ? answer.object["metadata"] : {};
  const uid = typeof metadata["uid"] === "string" ? metadata["uid"] : undefined;
  event(
    { kind: "Lease", apiVersion: "coordination.k8s.io/v1", eventNamespace: namespace, name, uid },
    { reason: reason === "quota" ? "PortsAheadQuotaExceeded" : "PortsAheadFailed", message: text, type: "Warning" },
  );
}
