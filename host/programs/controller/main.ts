// plexus-controller: starts the controller, and stops it on SIGTERM or SIGINT.

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { ApiObjects, objectSockets } from "../../cluster/kube/api-objects.ts";
import { Connection } from "../../cluster/kube/connection.ts";
import { inClusterServer } from "../../cluster/kube/in-cluster.ts";
import { keptCredentials, keptServiceAccount } from "../../cluster/kube/kept-credentials.ts";
import { features } from "../../../features/list.ts";
import { Controller } from "../../controller/controller.ts";
import type { ControllerFeature } from "../../controller/controller-feature.ts";
import type { MakePart } from "../../controller/part.ts";
import { boundNativeMemory } from "../../system/libc/native-memory.ts";
import { boundHeapGrowth } from "../../system/v8/heap-growth.ts";
import { giveHeapBackWhenQuiet } from "../../system/v8/heap-rest.ts";
import { version } from "../../system/version.ts";
import { collectorHeaders } from "../../telemetry/collector-headers.ts";
import { openLog } from "../../telemetry/log.ts";
import { systemClock } from "../../system/clock.ts";
import { type ControllerOptions, readOptions, usageOf } from "./options.ts";

async function main(options: ControllerOptions, ofFeatures: readonly ControllerFeature[]): Promise<void> {
  boundNativeMemory();
  boundHeapGrowth();
  giveHeapBackWhenQuiet();
  const log = openLog({
    name: "plexus-controller",
    level: options.logLevel,
    fd: 2,
    clock: systemClock,
    dropped: () => controller.metrics.add("plexus_log_lines_dropped_total", {}),
  });
  process.on("exit", () => log.flush());
  process.on("uncaughtExceptionMonitor", (error) => log.write("error", { fault: "INTERNAL" }, error.stack ?? error.message));
  const warn = (text: string): void => log.write("warn", {}, text);
  const server = options.apiServer ?? inClusterServer(process.env);
  if (options.kubeconfig === undefined && server === undefined) {
    warn("there is no cluster: give --kubeconfig, or run in a pod");
    process.exit(2);
  }
  const credentials =
    options.kubeconfig === undefined
      ? keptServiceAccount(options.serviceAccount, server ?? "", warn, systemClock)
      : keptCredentials(options.kubeconfig, { allowInsecure: false }, warn, systemClock);
  const identity = options.identity ?? `${hostname()}_${randomBytes(6).toString("hex")}`;
  const controller = new Controller({
    clock: systemClock,
    objects: new ApiObjects({
      credentials,
      connection: new Connection(systemClock, objectSockets),
      onRequest: (request) => controller.spans.request(request),
    }),
    lease: { namespace: options.leaseNamespace, name: options.leaseName, seconds: options.leaseSeconds },
    identity,
    version,
    parts: await partsOf(options),
    partMetrics: Object.assign({}, ...ofFeatures.map(({ metrics }) => metrics)),
    collector: options.otlp && {
      url: options.otlp,
      headers: collectorHeaders(process.env["OTEL_EXPORTER_OTLP_HEADERS"] ?? ""),
      resource: { "service.name": "plexus-controller", "service.version": version, "service.instance.id": identity },
    },
    listen: options.metricsListen,
    log: (level, text) => log.write(level, {}, text),
  });
  const port = await controller.listen();
  if (port !== undefined) log.write("info", {}, `serves metrics on ${options.metricsListen?.host}:${port}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => controller.stop());
  await controller.run();
  process.exit(0);
}

async function partsOf({ definitions, parts }: ControllerOptions): Promise<readonly MakePart[]> {
  const made = await Promise.all(parts.map((make) => make())).catch((error: unknown) => {
    process.stderr.write(`plexus-controller: ${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  });
  if (definitions === undefined) return made;
  const { definitionsPart } = await import("../../controller/definitions/part.ts");
  return [...made, definitionsPart(definitions.configuration, definitions.plugins)];
}

async function begin(): Promise<void> {
  const parts = await Promise.all(features.flatMap(({ controller }) => controller?.() ?? []));
  const options = readOptions(process.argv.slice(2), process.env, parts);
  if (options === "help") process.stdout.write(usageOf(parts));
  else if ("wrong" in options) {
    process.stderr.write(`plexus-controller: ${options.wrong} (--help says what there is)\n`);
    process.exitCode = 2;
  } else await main(options, parts);
}

void begin();
