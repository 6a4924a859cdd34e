// A daemon for tests, started as an administrator starts it: as it is, or confined as a container without privileges would be.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dist } from "./plexus.ts";

export interface DaemonOptions {
  readonly socket: string;
  /** Further arguments of plexusd. */
  readonly args?: readonly string[];
  /** Further arguments of Node, before the program. */
  readonly nodeArgs?: readonly string[];
  /** plexusd.cjs of an installation; the build's unless given. */
  readonly program?: string;
  /** Its environment; empty unless given. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Directories that it may write; all else is read-only then, it has no capability and gains none, and neither the network nor the
   * processes of the host are its.
   */
  readonly confined?: { readonly writable: readonly string[] };
}

export interface TestDaemon {
  readonly socket: string;
  /** The daemon's own pid, as this process sees it. */
  readonly pid: number;
  /** What it said so far. */
  stderr(): string;
  /** Sends a signal to the daemon itself. */
  signal(name: NodeJS.Signals): void;
  /** When it has ended. */
  readonly ended: Promise<unknown>;
  /** SIGTERM, and waits for its end; answers its exit status. */
  stop(): Promise<number | null>;
}

/** Starts plexusd; resolves when it listens, rejects with what it said where it ends first. */
export async function startDaemon({
  socket,
  args = [],
  nodeArgs = [],
  env = {},
  confined,
  program: own = join(dist, "plexusd.cjs"),
}: DaemonOptions): Promise<TestDaemon> {
  mkdirSync(dirname(socket), { recursive: true });
  const program = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=4",
    ...nodeArgs,
    own,
    "--socket",
    socket,
    ...args,
  ];
  const [command = "", ...rest] =
    confined === undefined ? program : [...confinement([dirname(socket), ...confined.writable]), ...program];
  const child = spawn(command, rest, { stdio: ["ignore", "ignore", "pipe"], env });
  let said = "";
  const ended = once(child, "exit");
  const { promise: listens, resolve } = Promise.withResolvers<boolean>();
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (said.includes("listens on")) resolve(true);
  });
  void ended.then(() => resolve(false));
  if (!(await listens)) throw new Error(`the daemon did not start: ${said}`);
  // unshare(1) stays, as the parent of what is the first process of its namespace, and hears no SIGTERM.
  const pid = confined === undefined ? (child.pid ?? 0) : childOf(child.pid ?? 0);
  return {
    socket,
    pid,
    ended,
    stderr: () => said,
    signal: (name) => void process.kill(pid, name),
    async stop() {
      process.kill(pid, "SIGTERM");
      const [status] = await ended;
      return typeof status === "number" ? status : null;
    },
  };
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}

/** `sh` makes what may be written mounts of their own, all else read-only, and becomes the program without capabilities. */
function confinement(writable: readonly string[]): readonly string[] {
  const script = [
    ...writable.map((directory) => `mount --bind '${directory}' '${directory}'`),
    "mount -o remount,bind,ro /",
    'exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"',
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
  return ["/usr/bin/unshare", ...namespaces, "--", "/bin/sh", "-c", script, "sh"];
}
