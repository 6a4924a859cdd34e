// The rows delegate-NAME and delegate-NAME-del: the steps of a component, against the steps of the native plugin of the same name. Both serve the same
// list through the same daemon, in turns. Other plugins of the list are components on both sides. The figure is the time of the plugin's own
// steps from the daemon's trace file, so the rest of the call does not dilute the ratio.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { readSteps } from "../scripts/demo/steps.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { fieldPlugin } from "../test/lab/field-plugins.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../test/lab/namespaces.ts";
import { newer, newerPlugins, newerRelease } from "../test/lab/newer-plugins.ts";
import { type Installation, installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { command, iproute2, linkType } from "../test/lab/requires.ts";
import { type MeasuredDelegate, measuredDelegates } from "./delegate-lists.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";

const turns = Number(process.env["PLEXUS_BENCH_DELEGATE_TURNS"] ?? 60);
/** V8 compiles the daemon's functions after 50 calls; a daemon that serves a node is past that. */
const warmUp = turns;

/** Milliseconds of the plugin's steps in an ADD and in its DEL. */
interface StepTimes {
  readonly add: number;
  readonly del: number;
}

type Kind = "native" | "wasm";

/** The node, the pod and the daemon of one delegate's rows. */
interface Bench {
  readonly delegate: MeasuredDelegate;
  /** The socket of the program that the list needs; empty for none. */
  readonly service: string;
  readonly plexus: Installation;
  readonly node: PodNamespace;
  readonly pod: PodNamespace;
  readonly socket: string;
}

/** The time of the type's steps in the trace file, which is emptied. Throws if another kind of plugin served them. */
function stepTime(trace: string, type: string, kind: Kind, verb: string): number {
  const steps = readSteps(trace).filter((step) => step.type === type && step.verb === verb);
  rmSync(trace);
  const foreign = steps.find((step) => step.kind !== kind || !step.ok);
  if (foreign !== undefined)
    throw new Error(`${verb} of ${type}: a step is ${JSON.stringify(foreign)}, not a success of a ${kind} plugin`);
  if (steps.length === 0) throw new Error(`${verb} of ${type}: no step is in the trace file`);
  return steps.reduce((sum, { ms }) => sum + ms, 0);
}

/** One ADD and one DEL of the list, with this kind of plugin under test. */
function turnOf({ delegate, service, plexus, node, pod, socket }: Bench, kind: Kind): () => Promise<StepTimes> {
  const { type, ifname = "eth0" } = delegate;
  const list = delegate.list(plexus, { kind, socket: service });
  const trace = join(plexus.directory, `trace-${kind}`);
  const config = {
    cniVersion: "1.0.0",
    name: "bench",
    type: "plexus",
    cniDir: plexus.state(`lib-${kind}`),
    runDir: plexus.runState(`run-${kind}`),
    trace,
    wasm: { prefer: kind === "wasm" ? true : list.others, grants: list.grants },
    ...(list.runtimeConfig === undefined ? {} : { runtimeConfig: list.runtimeConfig }),
    delegates: [{ cniVersion: "1.0.0", name: `bench-${kind}`, plugins: list.plugins }],
  };
  let containers = 0;
  return async () => {
    const containerId = `${kind}-${containers++}`;
    const times = { add: 0, del: 0 };
    for (const verb of ["ADD", "DEL"] as const) {
      const { status, stdout, stderr } = await plexus.call({
        verb,
        containerId,
        netns: pod.path,
        ifname,
        config,
        env: { PLEXUS_SOCKET: socket },
        through: ["nsenter", `--net=${node.path}`, "--"],
      });
      if (status !== 0) throw new Error(`${verb} of ${type} (${kind}): ${stdout}${stderr}`);
      times[verb === "ADD" ? "add" : "del"] = stepTime(trace, type, kind, verb);
    }
    return times;
  };
}

function missingFor({ requires = [] }: MeasuredDelegate): string | undefined {
  const unmet = [iproute2, command("nsenter", "--version"), linkType("veth"), newer, ...requires].map((requirement) =>
    requirement(),
  );
  return missingPrivateNamespaces() ?? unmet.find((reason) => reason !== undefined);
}

async function measure(delegate: MeasuredDelegate): Promise<Samples<StepTimes> | string> {
  const directory = newerPlugins();
  const missingReason = missingFor(delegate) ?? missingBuild({ components: delegate.types });
  if (missingReason !== undefined || directory === undefined) return missingReason ?? `no reference plugins ${newerRelease}`;
  await using stack = new AsyncDisposableStack();
  const { types } = delegate;
  const plexus = installPlexus({
    native: types,
    findNative: (name) => findIn(directory, name) ?? fieldPlugin(name),
    components: types,
  });
  stack.defer(() => plexus.dispose());
  const [node, pod] = [createPodNamespace("node"), createPodNamespace()];
  stack.defer(() => node.dispose());
  stack.defer(() => pod.dispose());
  const daemon = await startDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
  stack.defer(async () => void (await daemon.stop()));
  for (const [where, commands] of [
    [node, delegate.onNode ?? []],
    [pod, delegate.inPod ?? []],
  ] as const)
    for (const each of commands) {
      const { status, stderr } = where.exec(["ip", ...each.split(" ")]);
      if (status !== 0) throw new Error(`ip ${each}: ${stderr}`);
    }
  const service = await delegate.start?.();
  if (service !== undefined) stack.defer(() => service.dispose());
  const bench = { delegate, service: service?.socket ?? "", plexus, node, pod, socket: daemon.socket };
  return await inTurns<StepTimes>({ subject: turnOf(bench, "wasm"), baseline: turnOf(bench, "native"), warmUp, samples: turns });
}

function findIn(directory: string, name: string): string | undefined {
  const path = join(directory, name);
  return existsSync(path) ? path : undefined;
}

/** The rows of ADD and DEL, which one run measures. */
function rowsOf(delegate: MeasuredDelegate): readonly Benchmark[] {
  let measured: Promise<Samples<StepTimes> | string> | undefined;
  const row = (verb: "ADD" | "DEL", target: string, of: (times: StepTimes) => number): Benchmark => ({
    id: `delegate-${delegate.type}${verb === "ADD" ? "" : "-del"}`,
    title: `${verb} of ${delegate.type}, its steps through the daemon, as a component / as the native plugin ${newerRelease}`,
    target,
    async sample() {
      measured ??= measure(delegate);
      const samples = await measured;
      if (typeof samples === "string") return samples;
      return { subject: samples.subject.map(of), baseline: samples.baseline.map(of) };
    },
  });
  return [row("ADD", "ratio ≤ 0.6", ({ add }) => add), row("DEL", "ratio ≤ 0.8", ({ del }) => del)];
}

/** Each reference plugin whose component and native program can run the same list. */
export const delegateBenchmarks: readonly Benchmark[] = measuredDelegates.flatMap(rowsOf);
