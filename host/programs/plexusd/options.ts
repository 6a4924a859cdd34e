// Reads plexusd's command line.

import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { ResidentFeature, ResidentSettings } from "../../../features/resident-part.ts";
import type { ForeignStepsPolicy } from "../../node/cni-configuration/kept-steps.ts";
import type { RoundSettings } from "../../node/reconcile/reconciler.ts";
import { daemonCounts } from "../../../src/configuration/daemon-counts.ts";
import { uidOptionText } from "../../../src/configuration/uid-option.ts";
import { defaultUids, maxUid, type SandboxUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import type { DaemonIsolation } from "../../../src/configuration/wasm-configuration.ts";
import { type DaemonLogLevel, levelOf } from "../../telemetry/log.ts";
import {
  addressOf,
  collectorOf,
  countOf,
  fileNameOf,
  isolationOf,
  maxSocketPath,
  pathOf,
  type SandboxStart,
  sandboxStartOf,
  serverOf,
  uidsOf,
} from "../../node/command-line/option-values.ts";

/** The options of a daemon with a user of its own. */
interface UserOptions {
  /** The daemon's user and group; undefined: it keeps those with which it was started. */
  readonly uid: number | undefined;
  /** Directories that a daemon with a user of its own shares with root's programs, besides the usual ones. */
  readonly sharedDirectories: readonly string[];
  /** Sockets of root to which a daemon with a user of its own connects, besides the kubelet's. */
  readonly socketsOfRoot: readonly string[];
}

/** plexusd's command line with every default filled in; see usage.ts. */
export interface DaemonOptions extends UserOptions {
  readonly socket: string;
  readonly statusSocket: string;
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  readonly otlp: URL | undefined;
  readonly logLevel: DaemonLogLevel;
  readonly stateDir: string;
  /** Directories that the daemon may change besides those of its other options; empty: all. */
  readonly writeTo: readonly string[];
  readonly nodeName: string | undefined;
  readonly kubeconfig: string | undefined;
  /** Undefined: the daemon writes no network configuration. */
  readonly cniConfiguration: CniConfigurationOptions | undefined;
  /** The parts of features that are on. */
  readonly residents: readonly ResidentSettings[];
  readonly calls: number;
  readonly queue: number;
  readonly sandboxes: number;
  readonly isolation: DaemonIsolation;
  readonly sandboxUids: SandboxUids;
  readonly sandboxStart: SandboxStart;
  readonly graceMs: number;
  readonly reconcile: Omit<RoundSettings, "directories">;
}

/** Options of the network configuration that the daemon writes, and of the credentials that this configuration names. */
export interface CniConfigurationOptions {
  readonly directory: string;
  readonly template: string;
  readonly fileName: string;
  /** File name of the default network; undefined: the first network of the directory. */
  readonly clusterNetwork: string | undefined;
  readonly binDir: string;
  readonly foreignSteps: ForeignStepsPolicy;
  /** The directory of the pod's service account. */
  readonly serviceAccount: string;
  /** The API server's URL; undefined: that of the pod's environment. */
  readonly apiServer: string | undefined;
  /** The directory of the kubeconfig for one-shot engines; undefined: the daemon writes none. */
  readonly nodeCredentials: string | undefined;
}

const { calls, queue, graceMs, reconcileIntervalSeconds: interval, reconcileGraceSeconds: reconcileGrace } = daemonCounts;

/** The parsed options; `help`; or `wrong`, one line about the mistake. */
export function readOptions(
  args: readonly string[],
  residents: readonly ResidentFeature[],
): DaemonOptions | "help" | { readonly wrong: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: allOptions(residents) });
    if (values.help === true) return "help";
    const count = (name: keyof typeof daemonCounts): number => {
      const { option, min, max } = daemonCounts[name];
      return countOf(option, values[option], min, max);
    };
    const socket = pathOf("socket", values.socket, maxSocketPath);
    return {
      socket,
      statusSocket: pathOf("status-socket", values["status-socket"] ?? join(dirname(socket), "status.sock"), maxSocketPath),
      metricsListen: values["metrics-listen"] === undefined ? undefined : addressOf(values["metrics-listen"]),
      otlp: values.otlp === undefined ? undefined : collectorOf(values.otlp),
      logLevel: levelOf(values["log-level"]),
      nodeName: values["node-name"],
      kubeconfig: values.kubeconfig === undefined ? undefined : pathOf("kubeconfig", values.kubeconfig, 4095),
      cniConfiguration: cniConfigurationOf(values),
      residents: residents.flatMap(({ read }) => read(values) ?? []),
      stateDir: pathOf("state-dir", values["state-dir"], 4095),
      writeTo: (values["write-to"] ?? []).map((path) => pathOf("write-to", path, 4095)),
      ...userOf(values, uidsOf(values["sandbox-uids"])),
      calls: count("calls"),
      queue: count("queue"),
      sandboxes: count("sandboxes"),
      isolation: isolationOf(values.isolation),
      sandboxUids: uidsOf(values["sandbox-uids"]),
      sandboxStart: sandboxStartOf(values["sandbox-start"]),
      graceMs: count("graceMs"),
      reconcile: {
        intervalMs: count("reconcileIntervalSeconds") * 1000,
        graceMs: count("reconcileGraceSeconds") * 1000,
        dryRun: values["reconcile-dry-run"] === true,
      },
    };
  } catch (error) {
    // The message of parseArgs for a positional argument has several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong: wrong.replace(/\.$/, "") };
  }
}

const ownOptions = {
  socket: { type: "string", default: "/run/plexus/plexus.sock" },
  "status-socket": { type: "string" },
  "metrics-listen": { type: "string" },
  otlp: { type: "string" },
  "log-level": { type: "string", default: "info" },
  "state-dir": { type: "string", default: "/var/lib/cni/plexus" },
  "write-to": { type: "string", multiple: true },
  uid: { type: "string" },
  "share-dir": { type: "string", multiple: true },
  "connect-to": { type: "string", multiple: true },
  "node-name": { type: "string" },
  kubeconfig: { type: "string" },
  "cni-config-dir": { type: "string" },
  "cni-config": { type: "string" },
  "cni-config-name": { type: "string" },
  "cluster-network": { type: "string" },
  "cni-bin-dir": { type: "string" },
  "cni-foreign-steps": { type: "string" },
  "service-account": { type: "string" },
  "api-server": { type: "string" },
  "node-credentials": { type: "string" },
  calls: { type: "string", default: String(calls.usual) },
  queue: { type: "string", default: String(queue.usual) },
  sandboxes: { type: "string", default: String(Math.max(2, availableParallelism())) },
  isolation: { type: "string", default: "process" },
  "sandbox-uids": { type: "string", default: uidOptionText(defaultUids) },
  "sandbox-start": { type: "string", default: "new" },
  "grace-ms": { type: "string", default: String(graceMs.usual) },
  "reconcile-interval": { type: "string", default: String(interval.usual) },
  "reconcile-grace": { type: "string", default: String(reconcileGrace.usual) },
  "reconcile-dry-run": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type OwnValues = ReturnType<typeof parseArgs<{ options: typeof ownOptions }>>["values"];

/** The options with those of the features, whose values the features read themselves. */
function allOptions(residents: readonly ResidentFeature[]): typeof ownOptions {
  return Object.assign({}, ...residents.map(({ options }) => options), ownOptions);
}

function userOf(
  { uid: text, "share-dir": directories = [], "connect-to": sockets = [] }: OwnValues,
  reserved: SandboxUids,
): UserOptions {
  if (text === undefined && directories.length > 0) throw new Error("--share-dir needs --uid");
  if (text === undefined && sockets.length > 0) throw new Error("--connect-to needs --uid");
  const uid = text === undefined ? undefined : countOf("uid", text, 1, maxUid);
  if (uid !== undefined && reserved !== "same" && uid >= reserved.first && uid < reserved.first + reserved.count)
    throw new Error(`--uid ${uid}: lies among the uids of sandbox processes (--sandbox-uids ${uidOptionText(reserved)})`);
  return {
    uid,
    sharedDirectories: directories.map((path) => pathOf("share-dir", path, 4095)),
    // A socket's name is bounded, and its directory is not: the launch server enters it.
    socketsOfRoot: sockets.map((path) => pathOf("connect-to", path, 4000)),
  };
}

function foreignStepsOf(text: string): ForeignStepsPolicy {
  if (text === "keep" || text === "strip") return text;
  throw new Error(`--cni-foreign-steps must be keep or strip, not ${JSON.stringify(text)}`);
}

function cniConfigurationOf(values: OwnValues): CniConfigurationOptions | undefined {
  const { "cni-config-dir": directory, "cni-config": template } = values;
  if (directory === undefined && template === undefined) {
    const further = [
      "cni-config-name",
      "cluster-network",
      "cni-bin-dir",
      "cni-foreign-steps",
      "service-account",
      "api-server",
      "node-credentials",
    ] as const;
    const idle = further.find((name) => values[name] !== undefined);
    if (idle !== undefined) throw new Error(`--${idle} needs --cni-config-dir and --cni-config`);
    return undefined;
  }
  if (directory === undefined || template === undefined) throw new Error("--cni-config-dir and --cni-config belong together");
  const { "node-credentials": nodeCredentials, "api-server": apiServer, "cluster-network": clusterNetwork } = values;
  return {
    directory: pathOf("cni-config-dir", directory.replace(/(?<=.)\/+$/, ""), 4095),
    template: pathOf("cni-config", template, 4095),
    fileName: fileNameOf("cni-config-name", values["cni-config-name"] ?? "00-plexus.conflist", [".conflist"]),
    clusterNetwork: clusterNetwork && fileNameOf("cluster-network", clusterNetwork, [".conf", ".conflist", ".json"]),
    binDir: pathOf("cni-bin-dir", values["cni-bin-dir"] ?? "/opt/cni/bin", 4095),
    foreignSteps: foreignStepsOf(values["cni-foreign-steps"] ?? "keep"),
    serviceAccount: pathOf("service-account", values["service-account"] ?? "/var/run/secrets/kubernetes.io/serviceaccount", 4095),
    apiServer: apiServer && serverOf(apiServer),
    nodeCredentials: nodeCredentials && pathOf("node-credentials", nodeCredentials, 4095),
  };
}
