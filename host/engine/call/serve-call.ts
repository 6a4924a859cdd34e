// Answers one call of the runtime: reads it, takes the locks, runs the verb, prints the result or the error (CNI section 5).

import { deletionError } from "../../src/cni/deletion-error.ts";
import { printError } from "../../src/cni/error-json.ts";
import { type CniCall, readEnvironment } from "../../src/cni/environment.ts";
import { printVersionAnswer } from "../../src/cni/version-answer.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { DeviceAllocation } from "../../src/npwg/device-id.ts";
import { ResultCache } from "../cache/result-cache.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { FileWriter } from "../files/file-writer.ts";
import type { Hands } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { Journal } from "../journal/journal.ts";
import { LeftBehind } from "../journal/left-behind.ts";
import type { LockAnswer, LockRequest } from "../locks/file-lock.ts";
import { add } from "./add.ts";
import { bootId } from "./boot-id.ts";
import type { CallObserver } from "./call-observer.ts";
import { type CallContext, journalKey, type Release } from "./call-context.ts";
import { CallDeadline } from "./call-deadline.ts";
import { readCallWords } from "./call-words.ts";
import { check } from "./check.ts";
import { del } from "./del.ts";
import { gc } from "./gc.ts";
import { callLocks } from "./locks.ts";
import { namespaceIsGone } from "./namespace-gone.ts";
import { nestDirectory, nestOfCall } from "./nest-directory.ts";
import { PluginFinder } from "./plugin-finder.ts";
import { waitUntilReady } from "./readiness.ts";
import { requirePlugins } from "./require-plugins.ts";
import { planCall } from "./plan-call.ts";
import { podIdentity } from "./pod-identity.ts";
import { status } from "./status.ts";
import { type DelegateRunner, stepRunner } from "./step-runner.ts";
import { openTrace } from "./trace.ts";
import { textOf } from "./utf8.ts";

/** What the brain is given to work with, by the program that it lives in. */
export interface BrainDeps {
  readonly hands: Hands;
  readonly delegates: DelegateRunner;
  readonly takeLock: TakeLock;
  /** Writes journal and cache. */
  readonly writer: FileWriter;
  /** The source of pods and definitions that a configuration names. */
  readonly cluster: (configuration: HostConfiguration) => Promise<Cluster | undefined>;
  readonly warn: (text: string) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly date: () => Date;
  /** Who watches the call; nobody in a one-shot brain. */
  readonly observer: CallObserver | undefined;
}

/** Takes a lock, waiting as the program that the brain lives in can wait. */
export type TakeLock = (request: LockRequest) => Promise<LockAnswer>;

/** How long a call waits for another one of the same container. */
const lockDeadlineMs = 60_000;

/** The call that is under way: its configuration, which its nested calls share, and what it failed with. */
export interface CallInProgress {
  configuration: HostConfiguration | undefined;
  /** What its plugins were found to be. */
  plugins: PluginFinder | undefined;
  fault: Fault | undefined;
}

/** Answers the runtime; `waitedMs` have gone by since it asked. Never throws for what the request holds; HandsGone passes through. */
export async function answer(
  request: Request,
  deps: BrainDeps,
  progress: CallInProgress,
  waitedMs: number,
): Promise<Omit<Reply, "kind">> {
  const refusal = (reason: Fault, cniVersion?: string): Omit<Reply, "kind"> => {
    progress.fault = reason;
    return { status: 1, stdout: printError(reason, cniVersion), stderr: "" };
  };
  const call = readEnvironment(request.environment);
  if (!call.ok) return refusal(call.fault);
  const { verb } = call.value;
  if (verb === "VERSION") return { status: 0, stdout: printVersionAnswer(), stderr: "" };
  const stdin = textOf(request.stdin, "network configuration on stdin");
  if (!stdin.ok) return refusal(stdin.fault);
  const words = readCallWords(verb, call.value.path, stdin.value);
  if (!words.ok) return refusal(words.fault);
  const { request: said, configured } = words.value;
  const { cniVersion } = said;
  if (!configured.ok) return refusal(configured.fault, cniVersion);
  const { configuration } = configured.value;
  progress.configuration = configuration;
  for (const told of [...(verb === "ADD" ? configuration.notices : []), ...configuration.warnings]) deps.warn(told);
  const { callTimeoutMs } = configuration;
  const deadline = new CallDeadline({ verb, callTimeoutMs, waitedMs, now: deps.now });
  if (deadline.stepMs === 0) {
    const why = `the call waited ${Math.round(waitedMs)} ms for its turn, and may take ${deadline.totalMs} ms in all`;
    return refusal(fault("CALL_TIMEOUT", why), cniVersion);
  }
  const context = contextOf(request, call.value, { ...configured.value, deadline }, deps);
  progress.plugins = context.plugins;
  const answered = await serve(context, deps);
  if (answered.ok) return { status: 0, stdout: answered.value, stderr: "" };
  return refusal(verb === "DEL" ? deletionError(answered.fault) : answered.fault, cniVersion);
}

async function serve(context: CallContext, deps: BrainDeps): Promise<Result<string>> {
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
        return silent(await del(context));
      case "CHECK":
        return silent(await check(context));
      case "STATUS":
        return silent(await status(context, deps.delegates));
      default:
        return silent(await gc(context));
    }
  } finally {
    held?.value();
  }
}

/** GC takes locks as it goes; STATUS changes nothing, so it waits for nobody, and nobody for it. */
async function lockFor(context: CallContext): Promise<Result<Release> | undefined> {
  const { verb } = context.call;
  return verb === "GC" || verb === "STATUS" ? undefined : context.locks.container(journalKey(context));
}

async function addText(context: CallContext, deps: BrainDeps): Promise<Result<string>> {
  const plan = await planCall(context);
  if (!plan.ok) return plan;
  const required = requirePlugins(context, deps.delegates, plan.value.attachments);
  // Who waits for it hears of it, too.
  required.catch(() => undefined);
  const added = await add(context, plan.value, required);
  return added.ok ? ok(added.value.text) : added;
}

/** What one call works with. */
export function contextOf(
  request: Pick<Request, "environment">,
  call: CniCall,
  own: Pick<CallContext, "document" | "configuration" | "deadline">,
  deps: BrainDeps,
): CallContext {
  const { document, configuration, deadline } = own;
  const { observer, date, warn } = deps;
  const trace = openTrace({ path: configuration.trace, observer, now: date, warn });
  const plugins = new PluginFinder(deps.hands, configuration.wasm.prefer);
  const { runDir } = configuration;
  const nest = call.containerId === "" ? nestOfCall(runDir) : nestDirectory(runDir, call, configuration.name);
  return {
    // Not spread: V8 would define each member after one as if its key were only now known, 15 times 1.6 thousand instructions.
    document,
    configuration,
    deadline,
    call,
    inherited: [...request.environment],
    journal: new Journal(configuration.cniDir, deps.writer),
    leftBehind: new LeftBehind(configuration.cniDir),
    cache: new ResultCache(configuration.cniDir, {
      multusDirectory: configuration.multusCniDir,
      warn: deps.warn,
      writer: deps.writer,
    }),
    bootId: bootId(),
    warn: deps.warn,
    date: deps.date,
    now: deps.now,
    namespaceIsGone: (path) => namespaceIsGone(deps.hands, path),
    cluster: once(() => deps.cluster(withinCall(configuration, deadline))),
    devices: once(() => devicesOf(call)),
    locks: callLocks(deps, configuration.cniDir, () => Math.min(lockDeadlineMs, Math.floor(deadline.stepMs))),
    plugins,
    hands: deps.hands,
    runStep: (network, ifname, mostMs = Infinity) => {
      const stepTimeoutMs = Math.min(configuration.stepTimeoutMs, mostMs);
      const limits = { ...configuration, stepTimeoutMs };
      return stepRunner({ ...deps, plugins, trace }, { configuration: limits, deadline, nest, network, ifname, nested: false });
    },
  };
}

/** The configuration, with no more time for the API's requests than the call has. */
function withinCall(configuration: HostConfiguration, { stepMs }: CallDeadline): HostConfiguration {
  const { kubernetes } = configuration;
  if (stepMs >= kubernetes.budgetMs) return configuration;
  return { ...configuration, kubernetes: { ...kubernetes, budgetMs: Math.ceil(stepMs) } };
}

/** The devices of the call's pod; none where the runtime names no pod. */
async function devicesOf(call: CniCall): Promise<Result<DeviceAllocation>> {
  const pod = podIdentity(call.args);
  if (!pod.ok) return pod;
  if (pod.value === undefined) return ok(new DeviceAllocation([]));
  const { allocatedDevices } = await import("../kubelet/allocated-devices.ts");
  return allocatedDevices(pod.value);
}

/** Opened by the first who asks. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

function silent(result: Result<void>): Result<string> {
  return result.ok ? ok("") : result;
}
