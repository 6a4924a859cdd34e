// Runs a reference plugin and the delegate of the same name with the same configurations, through the installed binary and a
// daemon. The native plugin makes one half of the attachments, the component the other; only `wasm.prefer` differs.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { readSteps } from "../../../../scripts/demo/steps.ts";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import { type Answer, installPlexus, type Installation } from "../../../lab/plexus.ts";
import { referencePlugin } from "../../../lab/requires.ts";
import { installRecorder } from "../../../lab/recorder.ts";
import { CallLanes } from "./call-lanes.ts";
import { type LinkFacts, stateOf } from "./namespace-state.ts";

export const kinds = ["native", "wasm"] as const;
/** The plugin that makes an attachment, or acts on it. */
export type Kind = (typeof kinds)[number];

export const other = (kind: Kind): Kind => (kind === "native" ? "wasm" : "native");

/** A configuration. The prefix `MASTER` in its step and its result before becomes a different letter for each half. */
export interface Configuration {
  readonly name: string;
  /** The step under test, without its type. */
  readonly step: Readonly<Record<string, unknown>>;
  readonly cniVersion?: string;
  readonly ifname: string;
  /** The index of the namespace, within the half. */
  readonly pod: number;
  /** CNI_ARGS. */
  readonly args?: string;
  readonly runtimeConfig?: object;
  /** The result of a preceding step. */
  readonly before?: object;
  /** Grants that replace those of `SideBySideInit`. */
  readonly grants?: Readonly<Record<string, object>>;
}

/** The time limit of a set-up in milliseconds, for a busy or emulated machine. */
export const patience = 900_000;

export type CallAnswer = Pick<Answer, "status" | "stdout" | "json">;

export interface SideBySideInit {
  /** The plugin's type. */
  readonly type: string;
  /** The number of namespaces of each half. */
  readonly pods: number;
  /** `wasm.grants`, to which the grants of `ipam-host-local` are added. */
  readonly grants: Readonly<Record<string, object>>;
  /** Further native plugins. */
  readonly native?: readonly string[];
  /** Finds the native plugins; by default the distribution's. */
  readonly findNative?: (name: string) => string | undefined;
  /** Sysctls to compare, below /proc/sys/net. */
  readonly settings?: readonly string[];
  /** The number of concurrent calls. */
  readonly lanes: number;
}

export class SideBySide {
  readonly lanes: CallLanes;
  readonly plexus: Installation;
  readonly #init: SideBySideInit;
  readonly #daemon: TestDaemon;
  /** The node's network namespace, separate for each test, so that concurrent tests do not interfere. */
  readonly #node: PodNamespace = createPodNamespace("node");
  readonly #prefix = `s${process.pid}`;
  #before = 0;

  private constructor(init: SideBySideInit, plexus: Installation, daemon: TestDaemon) {
    this.#init = init;
    this.plexus = plexus;
    this.#daemon = daemon;
    this.lanes = new CallLanes(init.lanes, this.#node.path);
  }

  static async open(init: SideBySideInit): Promise<SideBySide> {
    const { type, native = [], findNative = referencePlugin } = init;
    const plexus = installPlexus({ native: [type, ...native], findNative, components: [type, "ipam-host-local"] });
    const daemon = await startDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
    const made = new SideBySide(init, plexus, daemon);
    await made.ip(made.#all().map((pod) => `netns add ${pod}`));
    return made;
  }

  /** The state directory of both halves, in the tests' private /run, which is in memory. */
  get state(): string {
    return `/run/plexus/${this.#prefix}`;
  }

  /** The name of one of a half's namespaces. */
  pod(kind: Kind, pod: number): string {
    return `${this.#prefix}-${this.#init.type}-${kind}-${pod}`;
  }

  path(kind: Kind, pod: number): string {
    return `/run/netns/${this.pod(kind, pod)}`;
  }

  #all(): readonly string[] {
    return kinds.flatMap((kind) => Array.from({ length: this.#init.pods }, (_, pod) => this.pod(kind, pod)));
  }

  /** Runs commands of ip(8) on the node, in one process. Throws if a command fails. */
  async ip(commands: readonly string[]): Promise<void> {
    const output = await this.lanes.run(`ip -batch - 2>&1 <<'EOF'\n${commands.join("\n")}\nEOF`);
    if (!output.endsWith("\n0")) throw new Error(`ip: ${output}`);
  }

  /** A step with this result, to precede the step under test. */
  #stepOf(before: object): object {
    const name = `before-${this.#before++}`;
    installRecorder(this.plexus.cniPath, name).script("ADD", { stdout: JSON.stringify(before) });
    return { type: name };
  }

  /** Returns Plexus' configuration for the attachment of `maker`; `kind` is the plugin that runs the call. */
  prepare(configuration: Configuration): (maker: Kind, kind: Kind) => object {
    const { step, cniVersion = "1.0.0", runtimeConfig, before, name } = configuration;
    const { type } = this.#init;
    const grants = { ...this.#init.grants, ...configuration.grants };
    const first = new Map(
      kinds.map((maker) => {
        const text = before && JSON.stringify(before).replaceAll("NETNS", this.path(maker, configuration.pod));
        const result = text && JSON.parse(text.replaceAll("MASTER", maker[0] ?? ""));
        return [maker, result === undefined ? [] : [this.#stepOf({ cniVersion, ...result })]];
      }),
    );
    return (maker, kind) => {
      const stepUnderTest = JSON.parse(JSON.stringify({ type, ...step }).replaceAll("MASTER", maker[0] ?? ""));
      return {
        cniVersion,
        name: "node",
        type: "plexus",
        cniDir: join(this.state, "cni"),
        runDir: join(this.state, "run"),
        trace: join(this.state, "trace"),
        wasm: {
          prefer: kind === "wasm" ? [type] : [],
          // Generous, because the machine may be busy and the tests do not measure time.
          limits: { timeMs: 60_000, admissionMs: 60_000 },
          grants: {
            "ipam-host-local": { log: {}, leases: { directories: [join(this.state, "leases")] }, resolver: {} },
            ...grants,
          },
        },
        ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
        delegates: [
          {
            cniVersion,
            name: `${maker}-${name.replaceAll(/[^a-zA-Z0-9]+/gu, "-")}`,
            plugins: [...(first.get(maker) ?? []), stepUnderTest],
          },
        ],
      };
    };
  }

  call(verb: string, configuration: Configuration, config: object, maker: Kind): Promise<CallAnswer> {
    const { ifname, pod, args, name } = configuration;
    return this.lanes.call(
      join(this.plexus.cniPath, "plexus"),
      {
        verb,
        containerId: `${maker}-${name.replaceAll(/[^a-zA-Z0-9]+/gu, "-")}`,
        netns: this.path(maker, pod),
        ifname,
        config,
        env: { PLEXUS_SOCKET: this.#daemon.socket },
        ...(args === undefined ? {} : { args }),
      },
      this.plexus.cniPath,
    );
  }

  /** The links of all namespaces of a half, by `pod link`. */
  async links(kind: Kind): Promise<ReadonlyMap<string, LinkFacts>> {
    const pods = Array.from({ length: this.#init.pods }, (_, pod) => pod);
    const states = await Promise.all(pods.map((pod) => stateOf(this.lanes, this.pod(kind, pod), this.#init.settings ?? [])));
    return new Map(states.flatMap((state, pod) => [...state].map(([name, facts]) => [`${pod} ${name}`, facts] as const)));
  }

  /** The sysctls of a half's first namespace that belong to no interface, below /proc/sys/net. */
  async settings(kind: Kind, keys: readonly string[]): Promise<Readonly<Record<string, string>>> {
    return (await stateOf(this.lanes, this.pod(kind, 0), keys)).get("")?.settings ?? {};
  }

  /** The number of steps of the plugin under test so far, by verb and kind, such as `ADD native`. */
  steps(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { verb, type, kind } of readSteps(join(this.state, "trace"))) {
      if (type === this.#init.type) counts[`${verb} ${kind}`] = (counts[`${verb} ${kind}`] ?? 0) + 1;
    }
    return counts;
  }

  async close(): Promise<void> {
    await this.ip(this.#all().map((pod) => `netns delete ${pod}`));
    this.lanes.close();
    await this.#daemon.stop();
    this.#node.dispose();
    rmSync(this.state, { recursive: true, force: true });
    this.plexus.dispose();
  }
}
