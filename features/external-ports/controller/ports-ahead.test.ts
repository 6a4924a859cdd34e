import { setTimeout } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { PartContext } from "../../../host/controller/part.ts";
import { controllerMetricDefinitions } from "../../../host/telemetry/metrics/controller-definitions.ts";
import { portMetrics } from "../metrics.ts";
import { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import { keepPortsAhead, observePortsAhead } from "./ports-ahead.ts";
import { type AheadState, failure, type PortProvider, type ProviderResult } from "./provider.ts";

/** A provider whose looks have these outcomes, the last one again and again. */
function scripted(...outcomes: readonly ProviderResult<AheadState>[]): {
  readonly provider: PortProvider;
  readonly looks: () => number;
  readonly runLow: () => void;
} {
  let looks = 0;
  let low = Promise.withResolvers<void>();
  const keep = async (): Promise<ProviderResult<AheadState>> => {
    low = Promise.withResolvers();
    return outcomes[looks++] ?? outcomes.at(-1) ?? { ok: true, value: new Map() };
  };
  const provider = { ahead: { keep, untilLow: () => low.promise } } as unknown as PortProvider;
  return { provider, looks: () => looks, runLow: () => low.resolve() };
}

function context(): { readonly context: PartContext; readonly events: object[] } {
  const events: object[] = [];
  const part = {
    objects: { get: async (path: string) => ({ kind: "object", object: { metadata: { uid: `uid of ${path}` } } }) },
    log: () => undefined,
    lease: { namespace: "plexus", name: "plexus-controller" },
    event: (...event: readonly unknown[]) => events.push(event),
  };
  return { context: part as unknown as PartContext, events };
}

describe("the looks at ports made ahead", () => {
  test("come when a pool runs low", async () => {
    const { provider, looks, runLow } = scripted({ ok: true, value: new Map([["s1", 3]]) });
    const { context: part } = context();
    const ended = new AbortController();
    const kept = keepPortsAhead(part, "neutron", provider, ended.signal);
    await setTimeout(500);
    expect(looks()).toBe(1);
    runLow();
    await vi.waitFor(() => expect(looks()).toBe(2), { timeout: 120_000 });
    ended.abort();
    await kept;
  });

  test("stop for a while at a quota that is full, with an Event of the controller's Lease", async () => {
    const { provider, looks, runLow } = scripted(failure("quota", "Neutron answers HTTP 409 OverQuota"));
    const { context: part, events } = context();
    const ended = new AbortController();
    const kept = keepPortsAhead(part, "neutron", provider, ended.signal);
    runLow();
    await vi.waitFor(() => expect(events).toHaveLength(1), { timeout: 120_000 });
    await setTimeout(500);
    expect(looks()).toBe(1);
    const path = "/apis/coordination.k8s.io/v1/namespaces/plexus/leases/plexus-controller";
    expect(events).toEqual([
      [
        expect.objectContaining({ kind: "Lease", eventNamespace: "plexus", name: "plexus-controller", uid: `uid of ${path}` }),
        { reason: "PortsAheadQuotaExceeded", message: expect.stringContaining("OverQuota"), type: "Warning" },
      ],
    ]);
    ended.abort();
    await kept;
  });

  test("do not end at a mistake in the provider, which is told in an Event", async () => {
    const ahead = { keep: () => Promise.reject(new TypeError("a mistake")) };
    const { context: part, events } = context();
    const ended = new AbortController();
    let hasEnded = false;
    const kept = keepPortsAhead(part, "faulty", { ahead } as unknown as PortProvider, ended.signal);
    const watched = kept.finally(() => (hasEnded = true));
    await Promise.race([watched, vi.waitFor(() => expect(events).toHaveLength(1), { timeout: 120_000 })]);
    const message = 'provider "faulty": ports cannot be made ahead: a mistake';
    expect(events[0]).toContainEqual({ reason: "PortsAheadFailed", message, type: "Warning" });
    await setTimeout(50);
    expect(hasEnded).toBe(false);
    ended.abort();
    await watched;
  });

  test("leave the free ports to the metric, whatever their outcome", async () => {
    const metrics = new MetricsOf(controllerMetricDefinitions).with(portMetrics);
    const ahead = { free: () => new Map([["s1", 3]]) };
    observePortsAhead(metrics, new Map([["neutron", { provider: { ahead } as unknown as PortProvider }]]));
    expect(await metrics.text()).toContain('plexus_controller_ports_ahead{provider="neutron",subnet="s1"} 3');
  });

  test("end at once for a provider without pools", async () => {
    const kept = keepPortsAhead(context().context, "noop", {} as unknown as PortProvider, new AbortController().signal);
    expect(await kept).toBeUndefined();
  });
});
