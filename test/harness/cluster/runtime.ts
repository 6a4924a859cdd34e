// containerd's configuration in a node.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { pauseImage } from "./images.ts";

/** containerd's socket in the node. */
export const runtimeSocket = "/run/containerd/containerd.sock";

/** The path of containerd's configuration in the node. */
export const runtimeConfiguration = "/etc/containerd/config.toml";

/** Writes containerd's configuration onto the disk of a node. */
export function configureRuntime(disk: string): void {
  mkdirSync(join(disk, "etc", "containerd"), { recursive: true });
  writeFileSync(join(disk, runtimeConfiguration), text);
}

const unwanted = ["snapshotter.v1.btrfs", "snapshotter.v1.zfs", "snapshotter.v1.aufs", "snapshotter.v1.devmapper"];
const tracing = ["tracing.processor.v1.otlp", "internal.v1.tracing"];

// A process may not lower its oom_score_adj without CAP_SYS_RESOURCE, which containers often lack.
const text = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ${JSON.stringify([...unwanted, ...tracing].map((name) => `io.containerd.${name}`))}
[grpc]
  address = "${runtimeSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/opt/cni/bin"
  conf_dir = "/etc/cni/net.d"
  max_conf_num = 1
`;
