// A containerd of a test's own: its own root, state, socket and configuration, in a process, mount and network namespace of its own.
// It is the child of the first process of a process namespace, so that whatever it started (shims, runc, sandboxes, plugins)
// ends with it, however the test ends.

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

import type { PodNamespace } from "../../harness/namespaces.ts";
import { childrenOf, signalled } from "../processes.ts";
import { connectCri, type CriClient } from "./cri-client.ts";
import { program, programPath } from "./programs.ts";
import { sandboxImage, sandboxImageTar } from "./sandbox-image.ts";

export interface ContainerdInit {
  /** The program. */
  readonly program: string;
  /** The node's network namespace. */
  readonly node: PodNamespace;
  readonly cniBinDirectory: string;
  readonly cniConfDirectory: string;
  readonly internalLoopback: boolean;
}

export interface Containerd {
  readonly client: CriClient;
  /** A path that is good in containerd's mount namespace, as this process reaches it: its network namespaces are mounts there. */
  outside(path: string): string;
  /** For `cgroup_parent` of sandboxes: their cgroups go with the containerd. */
  readonly cgroupParent: string;
  /** What it wrote to its log. */
  log(): string;
  /** Ends it and everything that it started. */
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
  // Its own /run: shims keep their sockets, and the runtime its network namespaces, at places there that can't be configured.
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
    // The end of the first process of a process namespace is awaited by unshare, and comes after that of all others.
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
    const said = log().slice(-4000);
    await stop();
    throw new Error(`containerd can't be used: ${String(error)}\n${said}`, { cause: error });
  }
  const [first] = childrenOf(child.pid ?? 0);
  return { client, outside: (path) => `/proc/${first ?? 0}/root${path}`, cgroupParent, log, stop };
}

function configuration(directory: string, socket: string, init: ContainerdInit): string {
  const { cniBinDirectory, cniConfDirectory, internalLoopback } = init;
  for (const name of ["root", "state"]) mkdirSync(join(directory, name));
  const text = JSON.stringify;
  return `version = 2
root = ${text(join(directory, "root"))}
state = ${text(join(directory, "state"))}
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[grpc]
  address = ${text(socket)}
[plugins."io.containerd.internal.v1.opt"]
  path = ${text(join(directory, "opt"))}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(sandboxImage)}
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = ${text(cniBinDirectory)}
  conf_dir = ${text(cniConfDirectory)}
  max_conf_num = 1
${internalLoopback ? "  use_internal_loopback = true\n" : ""}`;
}

async function ready(client: CriClient, isOver: () => boolean): Promise<void> {
  const deadline = performance.now() + startMs;
  for (;;) {
    try {
      await client.call("Version", {});
      return;
    } catch (error) {
      if (isOver() || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The cgroups of sandboxes that were not removed, in every hierarchy there is. They are empty once their processes are gone. */
function removeCgroups(parent: string): void {
  const root = "/sys/fs/cgroup";
  const hierarchies = [root, ...readdirSync(root).map((name) => join(root, name))];
  for (const hierarchy of hierarchies) {
    const directory = join(hierarchy, parent);
    if (!existsSync(directory)) continue;
    const below = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const each of [...below.map((entry) => join(entry.parentPath, entry.name)).toReversed(), directory]) rmdirSync(each);
  }
}
