// containerd's configuration for tests, in the format of containerd 1.6 and newer.

/** The values in which tests differ. Paths are those that containerd sees. */
export interface ContainerdConfiguration {
  readonly root: string;
  readonly state: string;
  readonly socket: string;
  /** The image of sandbox containers. */
  readonly sandboxImage: string;
  readonly snapshotter: "native" | "overlayfs";
  readonly cniBinDirectory: string;
  readonly cniConfDirectory: string;
  /** A directory for containerd's optional programs, if the default is not the test's own. */
  readonly optDirectory?: string;
  /** Whether network namespaces are mounted below `state`. */
  readonly networkNamespacesInState?: boolean;
  /** Whether containerd brings `lo` up itself, without the plugin `loopback`. */
  readonly internalLoopback?: boolean;
}

const unwanted = ["snapshotter.v1.btrfs", "snapshotter.v1.zfs", "snapshotter.v1.aufs", "snapshotter.v1.devmapper"];
const tracing = ["tracing.processor.v1.otlp", "internal.v1.tracing"];

/** The text of config.toml. */
export function containerdConfiguration(values: ContainerdConfiguration): string {
  const { root, state, socket, sandboxImage, snapshotter, cniBinDirectory, cniConfDirectory, optDirectory } = values;
  const text = JSON.stringify;
  const opt = optDirectory === undefined ? "" : `[plugins."io.containerd.internal.v1.opt"]\n  path = ${text(optDirectory)}\n`;
  // A process may not lower its oom_score_adj without CAP_SYS_RESOURCE, which containers often lack.
  return `version = 2
root = ${text(root)}
state = ${text(state)}
disabled_plugins = ${text([...unwanted, ...tracing].map((name) => `io.containerd.${name}`))}
[grpc]
  address = ${text(socket)}
${opt}[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(sandboxImage)}
  disable_apparmor = true
  restrict_oom_score_adj = true
${values.networkNamespacesInState === true ? "  netns_mounts_under_state_dir = true\n" : ""}  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = ${text(snapshotter)}
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = ${text(cniBinDirectory)}
  conf_dir = ${text(cniConfDirectory)}
  max_conf_num = 1
${values.internalLoopback === true ? "  use_internal_loopback = true\n" : ""}`;
}
