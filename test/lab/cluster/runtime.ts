// containerd's configuration in a node.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { containerdConfiguration } from "../containerd-configuration.ts";
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

const text = containerdConfiguration({
  root: "/var/lib/containerd",
  state: "/run/containerd",
  socket: runtimeSocket,
  sandboxImage: pauseImage,
  snapshotter: "overlayfs",
  cniBinDirectory: "/opt/cni/bin",
  cniConfDirectory: "/etc/cni/net.d",
});
