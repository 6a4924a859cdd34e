// Serves one call of the runtime: reads the request, takes the locks, runs the verb, and prints the result or the error (CNI section 5).

import { deletionError } from "../../../src/cni/deletion-error.ts";
import { printError } from "../../../src/cni/error-json.ts";
import { type CniCall, readEnvironment } from "../../../src/cni/environment.ts";
import { versionForError } from "../../../src/cni/plugin-request.ts";
import { printVersionAnswer } from "../../../src/cni/version-answer.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { furtherDevices, type PlanFeature } from "../plan/plan-feature.ts";
import { DeviceAllocation } from "../../../src/npwg/device-id.ts";
import { ResultCache } from "../../store/cache/result-cache.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { FileWriter } from "../../store/files/file-writer.ts";
import type { Shim } from "../../protocol/shim.ts";
import type { Reply, Request } from "../../protocol/messages.ts";
import { searchTimeMs } from "../../protocol/search-time.ts";
import { Journal } from "../../store/journal/journal.ts";
import { Abandoned } from "../../store/journal/abandoned.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import { add } from "../verbs/add.ts";
import { bootId } from "../call/boot-id.ts";
import type { CallObserver } from "../events/call-events.ts";
import { type CallContext, type ChainIdentity, journalKey, type Release } from "../call/call-context.ts";
import { CallDeadline } from "../call/call-deadline.ts";
import { readRequest } from "./read-request.ts";
import { check } from "../verbs/check.ts";
import { del } from "../verbs/del.ts";
import { gc } from "../verbs/gc.ts";
import { callLocks } from "../call/call-locks.ts";
import { namespaceIsGone } from "../call/namespace-gone.ts";
import { nestedCallDirectoryOf, temporaryNestedCallDirectory } from "../call/nested-call-directory.ts";
import { PluginFinder } from "../call/plugin-finder.ts";
import { waitUntilReady } from "../plan/default-network-readiness.ts";
import { requirePlugins } from "../plan/require-plugins.ts";
import type { PluginOutput } from "../events/plugin-output.ts";
import { podIdentity } from "../call/pod-identity.ts";
import { linksOf } from "../record/record-links.ts";
import { status } from "../verbs/status.ts";
import type { CallResources, DelegateRunner } from "../steps/call-resources.ts";
import { chainRunner } from "../steps/chain-runner.ts";
import { openTrace } from "../events/trace-file.ts";
import type { CallRecorder } from "../trace/call-recorder.ts";
import { lenientText, textOf } from "../call/utf8.ts";

/** The engine's dependencies for one call. The one-shot engine and the daemon each supply their own. */
export interface EngineDeps {
  readonly shim: Shim;
  readonly delegates: DelegateRunner;
  readonly takeLock: TakeLock;
  /** Writes journal and cache. */
  readonly writer: FileWriter;
  /** The source of pods and definitions that a configuration names. */
  readonly cluster: (configuration: HostConfiguration) => Promise<Cluster | undefined>;
  /** The features' parts in the plan of an ADD. */
  readonly features: readonly PlanFeature[];
  /** Writes a warning to the call's log. */
  readonly warn: (text: string) => void;
  /** Receives a native plugin's stderr, for the call's log. */
  readonly output: (output: PluginOutput) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** The time of day. */
  readonly date: () => Date;
  /** Observes the call; undefined in a one-shot engine. */
  readonly observer: CallObserver | undefined;
  /** Begins the chain trace of a call whose configuration is read; undefined if the call has none. */
  readonly beginRecording?: (
    call: CniCall,
    configuration: HostConfiguration,
    stdin: string,
  ) => Promise<CallRecorder | undefined> | undefined;
}

/** Maximum milliseconds that a call waits for another call of the same container. */
const lockDeadlineMs = 60_000;

/** The state of a running call. Its nested calls share the configuration and the plugins found so far. */
export interface CallInProgress {
  /** Undefined until the configuration is read. */
  configuration: HostConfiguration | undefined;
  /** Undefined until the configuration is read. */
  deadline: CallDeadline | undefined;
  /** The call's finder, which remembers the plugins that it found. */
  plugins: PluginFinder | undefined;
  /** The chains that the call has begun. A nested call belongs to one of them. */
  readonly chains: ChainIdentity[];
  /** The fault that the call failed with. */
  fault: Fault | undefined;
  /** Records the call for its chain trace; undefined: the call has none. */
  recorder?: CallRecorder | undefined;
}

/**
 * Serves one call and returns the reply. `waitedMs`: milliseconds since the shim's request. A bad request is answered with an
 * error; ShimGone and defects are thrown.
 */
export async function serveCall(
  request: Request,
  deps: EngineDeps,
  progress: CallInProgress,
  waitedMs: number,
): Promise<Omit<Reply, "kind">> {
  const refusal = (reason: Fault, cniVersion = versionForError(lenientText(request.stdin))): Omit<Reply, "kind"> => {
    progress.fault = reason;
    return { status: 1, stdout: printError(reason, cniVersion), stderr: "" };
  };
  const call = readEnvironment(request.environment);
  if (!call.ok) return refusal(call.fault);
  const { verb } = call.value;
  if (verb === "VERSION") return { status: 0, stdout: printVersionAnswer(), stderr: "" };
  const stdin = textOf(request.stdin, "network configuration on stdin");
  if (!stdin.ok) return refusal(stdin.fault);
  const read = readRequest(verb, call.value.path, stdin.value);
  if (!read.ok) return refusal(read.fault);
  const { pluginRequest, configured } = read.value;
  const { cniVersion } = pluginRequest;
  if (!configured.ok) return refusal(configured.fault, cniVersion);
  const { configuration } = configured.value;
  progress.configuration = configuration;
  for (const warning of [...(verb === "ADD" ? configuration.notices : []), ...configuration.warnings]) deps.warn(warning);
  const { callTimeoutMs } = configuration;
  const beforeMs = searchTimeMs(request.environment) + waitedMs;
  const deadline = new CallDeadline({ verb, callTimeoutMs, waitedMs: beforeMs, now: deps.now });
  progress.deadline = deadline;
  if (deadline.stepMs === 0) {
    const why = `the call waited ${Math.round(beforeMs)} ms for an engine, and may take ${deadline.totalMs} ms in all`;
    return refusal(fault("CALL_TIMEOUT", why), cniVersion);
  }
  const recording = deps.beginRecording?.(call.value, configuration, stdin.value);
  if (recording !== undefined) progress.recorder = await recording;
  const context = contextOf(request, call.value, { ...configured.value, deadline }, deps, progress);
  progress.plugins = context.plugins;
  const result = await runVerb(context, deps);
  if (result.ok) return { status: 0, stdout: result.value, stderr: "" };
  return refusal(verb === "DEL" ? deletionError(result.fault) : result.fault, cniVersion);
}

async function runVerb(context: CallContext, deps: EngineDeps): Promise<Result<string>> {
  const { verb } = context.call;
  // Before the container's lock: its DEL must not wait for an ADD that waits for the default network.
  const ready = await waitUntilReady(context);
  if (!ready.ok) return ready;
  const held = await lockFor(context);
  if (held?.ok === false) return held;
  try {
    switch (verb) {
      case "ADD":
        return await addText(context, deps);
      case "DEL":
        return emptyStdout(await del(context));
      case "CHECK":
        return emptyStdout(await check(context));
      case "STATUS":
        return emptyStdout(await status(context, deps.delegates));
      default:
        return emptyStdout(await gc(context));
    }
  } finally {
    held?.value();
  }
}

/** The container's lock for ADD, DEL and CHECK. GC takes its locks itself. STATUS changes nothing, so it needs no lock. */
async function lockFor(context: CallContext): Promise<Result<Release> | undefined> {
  const { verb } = context.call;
  return verb === "GC" || verb === "STATUS" ? undefined : context.locks.container(journalKey(context));
}

async function addText(context: CallContext, deps: EngineDeps): Promise<Result<string>> {
  // Loaded by an ADD only: every other verb of a one-shot engine starts without the planner.
  const { planCall } = await import("../plan/plan-call.ts");
  // Sent together with the look-ups of plugins: each further send would wake the shim and the engine once more.
  const linksBefore = once(() => linksOf(context.shim, context.call.netns));
  const plan = await planCall(context, linksBefore);
  if (!plan.ok) return plan;
  const required = requirePlugins(context, deps.delegates, plan.value.attachments);
  // `add` awaits `required` and so handles its rejection. This handler only prevents an unhandled rejection until then.
  required.catch(() => undefined);
  const before = linksBefore();
  before.catch(() => undefined);
  const added = await add(context, plan.value, required, before);
  return added.ok ? ok(added.value.text) : added;
}

/** Makes the context of one call. */
export function contextOf(
  request: Pick<Request, "environment">,
  call: CniCall,
  configured: Pick<CallContext, "document" | "configuration" | "deadline">,
  deps: EngineDeps,
  progress: Pick<CallInProgress, "chains" | "recorder">,
): CallContext {
  const { document, configuration, deadline } = configured;
  const { observer, date, warn } = deps;
  const { chains } = progress;
  const trace = openTrace({ path: configuration.trace, observer, recording: progress, now: date, warn });
  const plugins = new PluginFinder(deps.shim, configuration.wasm.prefer);
  const nestedCallDirectory =
    call.containerId === "" ? temporaryNestedCallDirectory() : nestedCallDirectoryOf(call, configuration.name);
  const { shim, delegates, output, now } = deps;
  const resources: CallResources = { shim, configuration, plugins, delegates, deadline, nestedCallDirectory, output, trace, now };
  const cluster = once(() => deps.cluster(withinCall(configuration, deadline)));
  return {
    // No spread syntax: V8 would define each of the 16 members after it as a dynamic key, which takes 1600 instructions each.
    document,
    configuration,
    deadline,
    call,
    inherited: [...request.environment],
    journal: new Journal(configuration.cniDir, deps.writer),
    abandoned: new Abandoned(configuration.cniDir),
    cache: new ResultCache(configuration.cniDir, {
      multusDirectory: configuration.multusCniDir,
      warn: deps.warn,
      writer: deps.writer,
    }),
    bootId: bootId(),
    warn: deps.warn,
    date: deps.date,
    now: deps.now,
    namespaceIsGone: (path) => namespaceIsGone(deps.shim, path),
    cluster,
    devices: once(() => devicesOf(call)),
    furtherDevices: once(() => furtherDevices(deps.features, configuration, () => podIdentity(call.args), cluster)),
    features: deps.features,
    locks: callLocks(deps, configuration.cniDir, () => Math.min(lockDeadlineMs, Math.floor(deadline.stepMs))),
    takeLock: deps.takeLock,
    plugins,
    shim: deps.shim,
    runStep(chain, maxMs = Infinity) {
      const { network, ifname, definition, knownContainers, ownLinks } = chain;
      chains.push({ network, ifname, definition, knownContainers, ownLinks });
      return chainRunner({ resources, deadline, observer, warn }, chain, Math.min(configuration.stepTimeoutMs, maxMs));
    },
  };
}

/** The configuration, with the time for requests to the API bounded by the call's remaining time. */
function withinCall(configuration: HostConfiguration, { stepMs }: CallDeadline): HostConfiguration {
  const { kubernetes } = configuration;
  if (stepMs >= kubernetes.budgetMs) return configuration;
  return { ...configuration, kubernetes: { ...kubernetes, budgetMs: Math.ceil(stepMs) } };
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

function emptyStdout(result: Result<void>): Result<string> {
  return result.ok ? ok("") : result;
}
