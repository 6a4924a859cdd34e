// A containerd for one test, with its own root, state, socket and configuration, in its own PID, mount and network namespace.
// Killing the first process of the PID namespace ends containerd and every process that it started: shims, runc, sandboxes and
// plugins. This happens even if the test is killed.

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { containerdConfiguration } from "../containerd-configuration.ts";
import type { PodNamespace } from "../namespaces.ts";
import { childrenOf, signalled } from "../processes.ts";
import { connectCri, type CriClient } from "./cri-client.ts";
import { program, programPath } from "./programs.ts";
import { sandboxImage, sandboxImageTar } from "./sandbox-image.ts";

export interface ContainerdInit {
  /** The path of containerd. */
  readonly program: string;
  /** The node's network namespace. */
  readonly node: PodNamespace;
  readonly cniBinDirectory: string;
  readonly cniConfDirectory: string;
  readonly internalLoopback: boolean;
}

export interface Containerd {
  readonly client: CriClient;
  /** Translates a path of containerd's mount namespace, where network namespaces are mounted, to a path of this process. */
  hostPath(path: string): string;
  /** The `cgroup_parent` of sandboxes. `stop` removes the cgroups below it. */
  readonly cgroupParent: string;
  /** The text of containerd's log. */
  log(): string;
  /** Kills containerd and every process that it started. */
  stop(): Promise<void>;
}

const startMs = 60_000;

export async function startContainerd(init: ContainerdInit): Promise<Containerd> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-containerd-"));
  const socket = join(directory, "sock");
  const logFile = join(directory, "log");
  const cgroupParent = `/plexus-test-${randomBytes(5).toString("hex")}`;
  writeFileSync(join(directory, "config.toml"), configuration(directory, socket, init));
  const output = openSync(logFile, "w");
  // containerd gets its own /run, because the paths of shims' sockets and of network namespaces there cannot be configured.
  const script = 'mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/netns /run/lock && "$1" --config "$2"; exit $?';
  const unshared = ["unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount", "--propagation", "private", "--mount-proc"];
  const child = spawn(
    "nsenter",
    [`--net=${init.node.path}`, "--", ...unshared, "sh", "-c", script, "sh", init.program, join(directory, "config.toml")],
    { stdio: ["ignore", output, output], env: { PATH: programPath } },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const client = connectCri(socket);
  const log = (): string => readFileSync(logFile, "utf8");
  const stop = async (): Promise<void> => {
    client.close();
    // unshare waits for the first process of the PID namespace, which ends after all other processes of the namespace.
    for (const pid of childrenOf(child.pid ?? 0)) signalled(pid, "SIGKILL");
    await ended;
    removeCgroups(cgroupParent);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await ready(client, () => child.exitCode !== null);
    const import_ = [
      "--address",
      socket,
      "--namespace",
      "k8s.io",
      "images",
      "import",
      "--snapshotter",
      "native",
      sandboxImageTar(),
    ];
    execFileSync(program("ctr") ?? "ctr", import_, { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    const lastLog = log().slice(-4000);
    await stop();
    throw new Error(`containerd cannot be used: ${String(error)}\n${lastLog}`, { cause: error });
  }
  const [first] = childrenOf(child.pid ?? 0);
  return { client, hostPath: (path) => `/proc/${first ?? 0}/root${path}`, cgroupParent, log, stop };
}

function configuration(directory: string, socket: string, init: ContainerdInit): string {
  const { cniBinDirectory, cniConfDirectory, internalLoopback } = init;
  const [root, state] = [join(directory, "root"), join(directory, "state")];
  for (const each of [root, state]) mkdirSync(each);
  return containerdConfiguration({
    root,
    state,
    socket,
    sandboxImage,
    snapshotter: "native",
    cniBinDirectory,
    cniConfDirectory,
    optDirectory: join(directory, "opt"),
    networkNamespacesInState: true,
    internalLoopback,
  });
}

async function ready(client: CriClient, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + startMs;
  for (;;) {
    try {
      await client.call("Version", {});
      return;
    } catch (error) {
      if (hasEnded() || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Removes the cgroups of remaining containers in every hierarchy. The cgroups are empty, because their processes have ended. */
export function removeCgroups(parent: string): void {
  const root = "/sys/fs/cgroup";
  const hierarchies = [root, ...readdirSync(root).map((name) => join(root, name))];
  for (const hierarchy of hierarchies) {
    const directory = join(hierarchy, parent);
    if (!existsSync(directory)) continue;
    const below = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const each of [...below.map((entry) => join(entry.parentPath, entry.name)).toReversed(), directory]) rmdirSync(each);
  }
}
