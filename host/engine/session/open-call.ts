// Makes the parts of one call from its request, its configuration and the node.

import type { CniCall } from "../../../src/cni/environment.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { DeviceAllocation } from "../../../src/npwg/device-id.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { namespaceIsGone } from "../../protocol/look-at-namespace.ts";
import type { Request } from "../../protocol/messages.ts";
import type { Shim } from "../../protocol/shim.ts";
import { ResultCache } from "../../store/cache/result-cache.ts";
import { Abandoned } from "../../store/journal/abandoned.ts";
import { Journal } from "../../store/journal/journal.ts";
import type { Call } from "../call.ts";
import type { CallDeadline } from "../../../src/step-policy/call-deadline.ts";
import { callLocks } from "../call/call-locks.ts";
import { nestedCallDirectoryOf, temporaryNestedCallDirectory, PluginFinder } from "../call/plugin-finder.ts";
import type { CallConfiguration } from "../call/read-configuration.ts";
import type { CallEvents } from "../events/call-events.ts";
import { type PluginOutput, traceFile } from "../events/call-log.ts";
import type { Node } from "../node.ts";
import { allocatorDevices } from "../planned/feature-hooks.ts";
import { chainRunner } from "../steps/step-runner.ts";

/** Maximum milliseconds that a call waits for another call of the same container. */
const lockDeadlineMs = 60_000;

/** Maximum milliseconds of a STATUS for requests to the API: a runtime asks every few seconds. */
const statusApiMs = 2000;

/** The parts of a call that its session makes before the call's configuration is read. */
export interface SessionParts {
  readonly node: Node;
  readonly shim: Shim;
  readonly events: CallEvents;
  readonly delegates: DelegateRunner;
  /** Opens the call's cluster, at the first use only. */
  readonly cluster: (configuration: HostConfiguration) => Promise<Cluster | undefined>;
  readonly output: (output: PluginOutput) => void;
}

/** Makes one call. */
export function openCall(
  { node, shim, events, delegates, cluster: openCluster, output }: SessionParts,
  request: Request,
  call: CniCall,
  { document, configuration, deadline }: CallConfiguration & { readonly deadline: CallDeadline },
): Call {
  const { clock, writer } = node;
  const warn = (text: string): void => events.warn(text);
  if (configuration.trace !== undefined) events.subscribe(traceFile(configuration.trace, clock.date, warn));
  const takeLock = node.takeLock(shim);
  const plugins = new PluginFinder(shim, configuration.wasm.prefer);
  const apiMs = call.verb === "STATUS" ? Math.min(deadline.stepMs, statusApiMs) : deadline.stepMs;
  const cluster = once(() => openCluster(withinCall(configuration, apiMs)));
  const opened: Call = {
    // No spread syntax: V8 would define each of the members after it as a dynamic key, which takes 1600 instructions each.
    document,
    configuration,
    deadline,
    request: call,
    inherited: [...request.environment],
    journal: new Journal(configuration.cniDir, writer),
    abandoned: new Abandoned(configuration.cniDir),
    cache: new ResultCache(configuration.cniDir, configuration.multusCniDir, warn, writer),
    bootId: node.bootId,
    warn,
    clock,
    startedAt: node.startedAt,
    events,
    output,
    namespaceIsGone: (path) => namespaceIsGone(shim, path),
    cluster,
    devices: once(() => devicesOf(call)),
    allocatorDevices: once(() => allocatorDevices(node.features, configuration, () => podIdentity(call.args), cluster)),
    features: node.features,
    locks: callLocks({ shim, takeLock }, configuration.cniDir, () => Math.min(lockDeadlineMs, Math.floor(deadline.stepMs))),
    takeLock,
    plugins,
    delegatedPlugins: plugins,
    componentsOnly: false,
    delegates,
    nestedCallDirectory:
      call.containerId === "" ? temporaryNestedCallDirectory() : nestedCallDirectoryOf(call, configuration.name),
    chains: [],
    shim,
    runStep(chain, maxMs) {
      opened.chains.push(chain);
      return chainRunner(opened, chain, maxMs);
    },
  };
  return opened;
}

/** The configuration, with the time for requests to the API bounded by the time that the call has for them. */
function withinCall(configuration: HostConfiguration, apiMs: number): HostConfiguration {
  const { kubernetes } = configuration;
  if (apiMs >= kubernetes.budgetMs) return configuration;
  return { ...configuration, kubernetes: { ...kubernetes, budgetMs: Math.ceil(apiMs) } };
}

/** The devices of the call's pod; none if the runtime names no pod. */
async function devicesOf(call: CniCall): Promise<Result<DeviceAllocation>> {
  const pod = podIdentity(call.args);
  if (!pod.ok) return pod;
  if (pod.value === undefined) return ok(new DeviceAllocation([]));
  const { allocatedDevices } = await import("../../cluster/kubelet/allocated-devices.ts");
  return allocatedDevices(pod.value);
}

/** Calls `open` at the first use, and answers every later use with the same promise. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}
