// A daemon for tests, started as an administrator starts it, or confined like an unprivileged container.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canBecome } from "../../host/sandbox/launcher/jail.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { dist } from "./plexus.ts";

export interface DaemonOptions {
  readonly socket: string;
  /** Further arguments of plexusd. */
  readonly args?: readonly string[];
  /** Further arguments of Node, before the program. */
  readonly nodeArgs?: readonly string[];
  /** The path of an installation's plexusd.cjs. Default: the build's. */
  readonly program?: string;
  /** The daemon's environment. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program that executes the daemon, with its arguments, such as `setpriv`. */
  readonly through?: readonly string[];
  /** A program that starts the daemon as its only child and ends with its status, with its arguments, such as `starts`. */
  readonly parent?: readonly string[];
  /**
   * Confines the daemon: only these directories and the socket's are writable, all others are read-only. The daemon has no
   * capabilities but those to change users for its sandbox processes, cannot gain any, and has its own network and PID namespace.
   */
  readonly confined?: { readonly writable: readonly string[] };
}

export interface TestDaemon {
  readonly socket: string;
  /** The daemon's pid in this process' PID namespace. */
  readonly pid: number;
  /** The daemon's stderr so far. */
  stderr(): string;
  /** Sends a signal to the daemon, not to unshare(1). */
  signal(name: NodeJS.Signals): void;
  /** Resolves when the daemon has ended. */
  readonly ended: Promise<unknown>;
  /** Sends SIGTERM, waits for the end, answers the exit status. */
  stop(): Promise<number | null>;
}

/** Starts plexusd. Resolves when the daemon listens; rejects with its stderr if it ends first. */
export async function startDaemon({
  socket,
  args = [],
  nodeArgs = [],
  env = {},
  confined,
  through = [],
  parent = [],
  program: script = join(dist, "plexusd.cjs"),
}: DaemonOptions): Promise<TestDaemon> {
  mkdirSync(dirname(socket), { recursive: true });
  const program = [
    ...through,
    ...parent,
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=4",
    ...nodeArgs,
    script,
    "--socket",
    socket,
    ...(args.includes("--sandbox-uids") ? [] : sandboxUidsHere()),
    ...args,
  ];
  const [command = "", ...rest] =
    confined === undefined ? program : [...confinement([dirname(socket), ...confined.writable]), ...program];
  const child = spawn(command, rest, { stdio: ["ignore", "ignore", "pipe"], env });
  let stderrText = "";
  const ended = once(child, "exit");
  const { promise: listens, resolve } = Promise.withResolvers<boolean>();
  child.stderr.on("data", (chunk: Buffer) => {
    stderrText += chunk.toString();
    if (stderrText.includes("listens on /")) resolve(true);
  });
  let isRunning = true;
  void ended.then(() => {
    isRunning = false;
    resolve(false);
  });
  if (!(await listens)) throw new Error(`the daemon did not start: ${stderrText}`);
  // unshare(1) remains as the parent of the daemon, which is the first process of its PID namespace. unshare(1) ignores SIGTERM.
  const isChild = confined === undefined && parent.length === 0;
  const pid = isChild ? (child.pid ?? 0) : childOf(child.pid ?? 0);
  return {
    socket,
    pid,
    ended,
    stderr: () => stderrText,
    signal: (name) => void process.kill(pid, name),
    async stop() {
      // The kernel may have given the pid of an ended daemon to another process.
      if (isRunning) process.kill(pid, "SIGTERM");
      const [status] = await ended;
      return typeof status === "number" ? status : null;
    },
  };
}

/** Options of plexusd: where the tests' user namespace has no other uid, a daemon is only ready with this choice. */
export function sandboxUidsHere(): readonly string[] {
  return canBecome(defaultUids) ? [] : ["--sandbox-uids", "same"];
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}

/** `sh` bind-mounts the writable directories, remounts `/` read-only, and executes the program without capabilities. */
function confinement(writable: readonly string[]): readonly string[] {
  const script = [
    ...writable.map((directory) => `mount --bind '${directory}' '${directory}'`),
    "mount -o remount,bind,ro /",
    'exec setpriv --bounding-set=-all,+setuid,+setgid --inh-caps=-all --no-new-privs "$@"',
  ].join(" && ");
  const namespaces = [
    "--mount",
    "--propagation",
    "private",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--net",
    "--ipc",
    "--uts",
  ];
  // The kernel ends unshare(1), and with it the daemon, when a test run is killed.
  return [
    "/usr/bin/setpriv",
    "--pdeathsig",
    "KILL",
    "--",
    "/usr/bin/unshare",
    ...namespaces,
    "--",
    "/bin/sh",
    "-c",
    script,
    "sh",
  ];
}
