// plexusd: starts the daemon, and stops it on SIGTERM or SIGINT.

import { dirname, join } from "node:path";
import { existsSync, realpathSync } from "node:fs";
import { residentFeatures } from "../../../features/list.ts";
import { boundHeapGrowth } from "../../system/v8/heap-growth.ts";
import { giveHeapBackWhenQuiet } from "../../system/v8/heap-rest.ts";
import { tierUpSooner } from "../../system/v8/tier-up.ts";
import { boundNativeMemory } from "../../system/libc/native-memory.ts";
import { isDelegated, SandboxCgroups } from "../../sandbox/launcher/cgroups.ts";
import { canBecome, installedJail, type LaunchServer, type ProgramOfJail } from "../../sandbox/launcher/jail.ts";
import { isConfined, serveArguments, takeConfinement } from "../../sandbox/launcher/launch-server.ts";
import { zygoteCommand } from "../../sandbox/launcher/zygote-program.ts";
import { guestProgram } from "../../sandbox/process/sandbox-process.ts";
import { giveUpRights, hasRights } from "../../system/libc/own-rights.ts";
import { askPaths, rootHelp, socketsOfRoot } from "../../sandbox/launcher/ask-root.ts";
import { useRootSockets } from "../../store/files/root-sockets.ts";
import { askRootWith } from "../../store/files/shared-with-root.ts";
import { nodePath } from "../../system/node-path.ts";
import { askedFiles } from "../../node/cni-configuration/asked-files.ts";
import type { OwnFiles } from "../../node/cni-configuration/own-file.ts";
import { version } from "../../system/version.ts";
import { type Log, openLog } from "../../telemetry/log.ts";
import { collectorHeaders } from "../../telemetry/collector-headers.ts";
import { inClusterServer } from "../../cluster/kube/in-cluster.ts";
import { Daemon, type DaemonSettings } from "./daemon.ts";
import type { SandboxPlace } from "./daemon-delegates.ts";
import type { InCluster } from "./daemon-clusters.ts";
import type { PodLifeSettings } from "./pod-life.ts";
import { nodeNameOf } from "./node-name.ts";
import { boundsOf, nodeKubeconfigOf, rootSocketsOf } from "./daemon-bounds.ts";
import { watchLaunchServer } from "./watch-launch-server.ts";
import { type DaemonOptions, readOptions } from "./options.ts";
import { usageOf } from "./usage.ts";
import { systemClock } from "../../system/clock.ts";

/**
 * Gives up all rights, however the daemon was started. The threads of V8 exist already and keep theirs, so the launcher executes the process anew, under the
 * same pid. A process that may change users leaves that right to a launch server. Without the launcher no component can run.
 */
function dropRights(options: DaemonOptions, launcher: string, program: ProgramOfJail): void {
  const { sandboxUids } = options;
  const daemon = [nodePath(), ...process.execArgv, ...process.argv.slice(1)];
  const uids = sandboxUids !== "same" && canBecome(sandboxUids) ? sandboxUids : undefined;
  const copies = uids !== undefined && options.sandboxStart === "copy";
  const zygote = copies ? zygoteCommand(launcher, uids, program, undefined, options.uid) : undefined;
  // The variable alone proves nothing.
  if (existsSync(launcher) && (!isConfined(process.env) || hasRights() || !hasUser(options)))
    process.execve?.(launcher, [launcher, ...serveArguments(uids, program, boundsOf(options), daemon, zygote)], process.env);
  if (giveUpRights()) process.execve?.(nodePath(), daemon, process.env);
}

/** Whether this process has the user of `--uid`. */
function hasUser({ uid }: DaemonOptions): boolean {
  return uid === undefined || process.getuid?.() === uid;
}

/** Lets this process ask its launch server for what root alone may use. */
function askRoot(options: DaemonOptions, launcher: string, server: LaunchServer): void {
  const ask = askPaths(server);
  askRootWith(rootHelp(launcher, server, ask, options.cniConfiguration?.directory));
  useRootSockets(socketsOfRoot(ask, rootSocketsOf(options)));
}

/** The cgroups of sandbox processes, if the daemon's own cgroup is delegated (systemd: Delegate=yes). The status says if they are missing. */
function openCgroups(server: LaunchServer | undefined): SandboxCgroups | undefined {
  const processes = [process.pid, ...(server === undefined ? [] : [server.pid])];
  const cgroups = isDelegated(undefined, processes) ? SandboxCgroups.open(undefined, undefined, processes) : undefined;
  return typeof cgroups === "string" ? undefined : cgroups;
}

/** The service account of the daemon's pod, unless --kubeconfig replaces it or the daemon writes no network configuration. */
function serviceAccountOf({ cniConfiguration, kubeconfig, socket }: DaemonOptions): InCluster | undefined {
  const server = cniConfiguration?.apiServer ?? inClusterServer(process.env);
  if (cniConfiguration === undefined || kubeconfig !== undefined || server === undefined) return undefined;
  // The written configuration names this path also if there is no file: the daemon's calls need none.
  return { directory: cniConfiguration.serviceAccount, server, kubeconfig: nodeKubeconfigOf(cniConfiguration, socket) };
}

function podLifeOf(
  { cniConfiguration, kubeconfig }: DaemonOptions,
  files: OwnFiles | undefined,
  nodeName: string | undefined,
  serviceAccount: InCluster | undefined,
): PodLifeSettings | undefined {
  if (cniConfiguration === undefined) return undefined;
  const { directory, template, fileName, clusterNetwork, binDir, foreignSteps, nodeCredentials } = cniConfiguration;
  const { POD_NAMESPACE: namespace = "", POD_NAME: podName, DAEMONSET: name = "" } = process.env;
  const isPod = namespace !== "" && name !== "";
  return {
    writer: {
      directory,
      template,
      fileName,
      pinned: clusterNetwork,
      binDir,
      kubeconfig: kubeconfig ?? serviceAccount?.kubeconfig,
      // The init container of the daemon's pod has installed it.
      needsShim: isPod,
      foreignSteps,
      files,
    },
    nodeName,
    nodeCredentials,
    daemonSet: isPod ? { namespace, name, podName } : undefined,
  };
}

async function main(options: DaemonOptions): Promise<void> {
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  const jail = installedJail(home, { level: options.isolation, uids: options.sandboxUids, requiresOwnUid: true });
  const entry = realpathSync(join(home, "engine", "guest-process.cjs"));
  dropRights(options, jail.launcher, guestProgram({ node: nodePath(), entry, readable: dirname(entry) }));
  const { server: launchServer, launches, landlock, makesNoLinks } = takeConfinement(process.env);
  if (!hasUser(options)) {
    process.stderr.write(
      `plexusd: --uid ${options.uid}: this process has uid ${process.getuid?.()}, and ${jail.launcher} can't change it\n`,
    );
    process.exit(2);
  }
  if (options.uid !== undefined && launchServer !== undefined) askRoot(options, jail.launcher, launchServer);
  const server = launchServer && { ...launchServer, hasZygote: options.sandboxStart === "copy" };
  boundNativeMemory();
  boundHeapGrowth();
  giveHeapBackWhenQuiet();
  tierUpSooner();
  const log = openLog({
    level: options.logLevel,
    fd: 2,
    clock: systemClock,
    dropped: () => daemon.metrics.add("plexus_log_lines_dropped_total", {}),
  });
  // The log's last lines are written whatever ends the process.
  process.on("exit", () => log.flush());
  process.on("uncaughtExceptionMonitor", (error) => log.write("error", { fault: "INTERNAL" }, error.stack ?? error.message));
  const node = nodeNameOf(options.nodeName, process.env);
  if (node.name === undefined) {
    log.write("warn", {}, `${node.problem}${node.fatal ? "" : ", so pods are not watched. To do: give --node-name"}`);
    if (node.fatal) process.exit(2);
  }
  const sandbox = { entry, jail: { ...jail, server: launches ? server : undefined, cgroups: openCgroups(server) } };
  const files = server && askedFiles(jail.launcher, server);
  const daemon = new Daemon(daemonInit(options, log, node.name, sandbox, files));
  const started = await daemon.start();
  if (!started.ok) {
    log.write("error", { fault: started.fault.kind }, started.fault.msg);
    process.exit(1);
  }
  stopWhenAsked(daemon, options, log, server);
  for (const text of boundsTexts(landlock, makesNoLinks)) log.write("info", {}, text);
  if (started.value !== undefined) log.write("info", {}, `serves metrics on ${options.metricsListen?.host}:${started.value}`);
  log.write("info", {}, `listens on ${options.socket}`);
}

/** The daemon's settings. `files`: changes the daemon's file for the runtime; undefined: the daemon does so itself. */
function daemonInit(
  options: DaemonOptions,
  log: Log,
  nodeName: string | undefined,
  sandbox: SandboxPlace,
  files: OwnFiles | undefined,
): DaemonSettings {
  const { sandboxes, otlp, stateDir } = options;
  const uids = [0, process.getuid?.() ?? 0];
  const serviceAccount = serviceAccountOf(options);
  return {
    calls: { socket: options.socket, uids },
    queue: { active: options.calls, waiting: options.queue },
    delegates: {
      ...sandbox,
      warm: Math.min(2, sandboxes),
      most: sandboxes,
      isolation: options.isolation,
      copies: join(stateDir, "components"),
      admitted: join(stateDir, "admitted"),
    },
    clusters: { nodeName, kubeconfig: options.kubeconfig, serviceAccount },
    telemetry: {
      log,
      version,
      stateDirectory: stateDir,
      collector: otlp && {
        url: otlp,
        headers: collectorHeaders(process.env["OTEL_EXPORTER_OTLP_HEADERS"] ?? ""),
        resource: { "service.name": "plexusd", "service.version": version, "k8s.node.name": nodeName ?? "" },
      },
    },
    status: { socket: options.statusSocket, uids },
    metricsListen: options.metricsListen,
    reconcile: { directories: [stateDir], ...options.reconcile },
    podLife: podLifeOf(options, files, nodeName, serviceAccount),
    residents: options.residents,
  };
}

/** Stops the daemon and ends the process, on a signal or when the launch server is gone. */
function stopWhenAsked(daemon: Daemon, { graceMs }: DaemonOptions, log: Log, server: LaunchServer | undefined): void {
  let stopping = false;
  const stop = (status: number): void => {
    if (stopping) return;
    stopping = true;
    void daemon.stop(graceMs).then((aborted) => {
      const text = `aborted ${aborted} calls after --grace-ms ${graceMs}; their next DEL undoes what they began`;
      if (aborted > 0) log.write("warn", {}, text);
      process.exit(status);
    });
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(0));
  if (server === undefined) return;
  watchLaunchServer(server, () => {
    log.write(
      "error",
      {},
      "the launch server was killed, without which no component can run: plexusd ends, and must be started anew",
    );
    stop(1);
  });
}

/** The bounds of the kernel, as lines of the log. */
function boundsTexts(landlock: number, makesNoLinks: boolean): readonly string[] {
  const made = makesNoLinks
    ? "a filter of system calls: the daemon makes no link, device or pipe"
    : "the kernel refuses the daemon's filter of system calls: the daemon can make hard links";
  if (landlock === 0)
    return [made, "the kernel has no Landlock of Linux 5.19: only the container, the unit and the user bound the daemon's files"];
  return [
    made,
    `Landlock: the daemon makes no symbolic link, device or pipe${landlock >= 6 ? ", and signals no other process" : ""}`,
  ];
}

async function begin(): Promise<void> {
  const residents = await residentFeatures();
  const options = readOptions(process.argv.slice(2), residents);
  if (options === "help") process.stdout.write(usageOf(residents));
  else if ("wrong" in options) {
    process.stderr.write(`plexusd: ${options.wrong} (--help says what there is)\n`);
    process.exitCode = 2;
  } else await main(options);
}

void begin();
