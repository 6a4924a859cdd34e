import { expect, test } from "vitest";
import { type ExternalPort, readExternalPort } from "../rules/external-port.ts";
import { controllerMetricDefinitions } from "../../../host/telemetry/metrics/controller-definitions.ts";
import { portMetrics } from "../metrics.ts";
import { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import { setPortMetrics } from "./port-metrics.ts";

function port(provider: string, conditions: readonly object[], metadata: object = {}): { readonly value: ExternalPort } {
  const read = readExternalPort({
    metadata: { namespace: "shop", name: "p-0", uid: "u", resourceVersion: "1", ...metadata },
    spec: { podName: "web", podUid: "p", nodeName: "n", index: 0, provider, definition: { namespace: "shop", name: "net" } },
    status: { conditions },
  });
  if (!read.ok) throw new Error(read.problem);
  return { value: read.value };
}

const failed = (reason: string): readonly object[] => [{ type: "Ready", status: "False", reason }];
const ready: readonly object[] = [{ type: "Ready", status: "True", reason: "Ready" }];

const of = (provider: string, state: string, count: number): string =>
  `plexus_controller_external_ports{provider="${provider}",state="${state}"} ${count}`;

test("counts ports by provider and by the condition's reason, and has 0 for a provider without ports", async () => {
  const metrics = new MetricsOf(controllerMetricDefinitions).with(portMetrics);
  const ports = [
    port("neutron", ready),
    port("neutron", ready),
    port("neutron", []),
    port("neutron", [{ type: "Active", status: "True", reason: "Active" }]),
    port("neutron", failed("ProviderUnavailable")),
    port("neutron", failed("QuotaExceeded")),
    port("neutron", failed("Invalid")),
    port("neutron", failed("Refused")),
    port("neutron", ready, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    port("gone", failed("Invalid")),
  ];
  const series = async (): Promise<readonly string[]> =>
    (await metrics.text()).split("\n").filter((line) => /^plexus_controller_external_ports\{.* [1-9]/u.test(line));
  setPortMetrics(metrics, ports, ["neutron", "other"]);
  expect(await series()).toEqual([
    of("neutron", "ready", 2),
    of("neutron", "unanswered", 2),
    of("neutron", "unavailable", 1),
    of("neutron", "quota", 1),
    of("neutron", "invalid", 1),
    of("neutron", "refused", 1),
    of("neutron", "deleted", 1),
    of("gone", "invalid", 1),
  ]);
  expect(await metrics.text()).toContain(of("other", "ready", 0));
  setPortMetrics(metrics, [], ["neutron"]);
  expect(await series()).toEqual([]);
  expect(await metrics.text()).not.toContain('"gone"');
});
