// The part for external ports: an ExternalPort for each interface of a pod whose definition names a fabric, and the fabric's port for each of them.

import type { ControllerPart, MakePart } from "../../../host/controller/part.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { observeState, observeWork } from "../../../host/controller/work/observe-work.ts";
import { incompleteMs } from "../../../host/controller/work/watching-part.ts";
import { portMetrics } from "../metrics.ts";
import { PortCollections } from "./collections.ts";
import { KuryrWriter } from "./kuryr.ts";
import { keepPortsAhead, observePortsAhead } from "./ports-ahead.ts";
import { lookForOrphans } from "./orphans.ts";
import { setPortMetrics } from "./port-metrics.ts";
import { type SelectionRules, workOnPod } from "./pod-work.ts";
import { type ActiveLooks, type PortWork, workOnPort } from "./port-work.ts";
import type { OwnedPort } from "./provider.ts";
import type { ExternalPortSettings } from "./provider-settings.ts";

const part = "externalports";
/**
 * Objects that are worked on at the same time, of each provider: most of the time a worker waits for the fabric. A provider that does not answer holds its
 * own workers only.
 */
const workers = 16;

/** Makes the part. */
export function externalPortsPart({ providers, kuryr, rules }: ExternalPortSettings): MakePart {
  return (context): ControllerPart => {
    const metrics = context.metrics.with(portMetrics);
    const looks: ActiveLooks = new Map();
    const writer = kuryr && new KuryrWriter(context, kuryr, rules.profile);
    const onWorked = observeWork(context, part);
    const newQueue = (): WorkQueue =>
      new WorkQueue(
        (key) => context.spans.work(part, key, () => workOn(work, rules, writer, key)),
        context.clock,
        workers,
        onWorked,
      );
    /** Pods, Kuryr's forms, and ports without a configured provider. */
    const queue = newQueue();
    const providerQueues = new Map([...providers.keys()].map((name) => [name, newQueue()]));
    const queues = [queue, ...providerQueues.values()];
    const addPort = (namespace: string, name: string): void => {
      const provider = collections.ports.get(namespace, name)?.spec.provider ?? "";
      (providerQueues.get(provider) ?? queue).add(`port ${namespace}/${name}`);
    };
    const collections = new PortCollections(context, rules.profile, {
      pod: (namespace, name) => queue.add(`pod ${namespace}/${name}`),
      port: addPort,
      podPorts: (namespace, name) => {
        if (kuryr !== undefined) queue.add(`kuryr ${namespace}/${name}`);
      },
    });
    const work: PortWork = { context, collections, providers, looks };
    const total = {
      get size(): number {
        return queues.reduce((sum, { size }) => sum + size, 0);
      },
    };
    observeState(context, part, total, () => collections.watched.states);
    observePortsAhead(metrics, providers);
    context.metrics.onScrape(() => setPortMetrics(metrics, collections.ports.all(), providers.keys()));
    return {
      name: part,
      run: async (signal) => {
        await collections.watched.begin(signal);
        const ahead = [...providers].map(([name, { provider }]) => keepPortsAhead(context, name, provider, signal));
        const orphans = [...providers].map(([name, { provider }]) => {
          const isInUse = (port: OwnedPort): boolean => collections.isInUse(name, port);
          return lookForOrphans(context, name, provider, { isInUse, intervalMs: 300_000 }, signal);
        });
        await Promise.all([...queues.map((each) => each.run(signal)), ...orphans, ...ahead]);
      },
    };
  };
}

async function workOn(work: PortWork, rules: SelectionRules, writer: KuryrWriter | undefined, key: string): Promise<WorkOutcome> {
  if (!work.collections.watched.isReady) return { kind: "again", afterMs: incompleteMs };
  const [kind, path = ""] = key.split(" ", 2);
  const [namespace = "", name = ""] = path.split("/");
  if (kind === "kuryr") {
    const ports = work.collections
      .portsOf(namespace, name)
      .filter(({ spec }) => work.providers.get(spec.provider)?.type === "neutron");
    return writer?.write(namespace, name, ports) ?? { kind: "done" };
  }
  return kind === "pod" ? workOnPod(work.context, work.collections, rules, namespace, name) : workOnPort(work, namespace, name);
}
