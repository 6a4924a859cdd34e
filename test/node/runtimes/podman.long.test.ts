// The commands of the page about containers without Kubernetes, with a real podman and runc.

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { missing, privateNamespaces, referencePlugins } from "../../lab/requires.ts";
import { removeCgroups } from "../../lab/containerd/containerd.ts";
import { containers } from "../../lab/containerd/programs.ts";
import { podmanPath, podmanWithCni } from "../../lab/podman/podman-programs.ts";

const page = "docs/how-to/containers-without-kubernetes.md";
const podmanCgroup = "/libpod_parent";
const hasCgroup = (path: string): boolean => globSync(`/sys/fs/cgroup{,/*}${path}`).length > 0;

const skip = missing("containers without Kubernetes", privateNamespaces, podmanWithCni, containers, referencePlugins("bridge"));

describe.skipIf(skip)("containers without Kubernetes", () => {
  let directory: string;
  // podman leaves the parent of its containers' cgroups.
  const hadCgroup = hasCgroup(podmanCgroup);
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-podman-"));
  });
  afterEach(() => {
    if (!hadCgroup) removeCgroups(podmanCgroup);
    rmSync(directory, { recursive: true, force: true });
  });

  test(`the commands of ${page} work unchanged`, { timeout: 1_000_000 }, () => {
    const text = readFileSync(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^```sh podman\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands ?? "");
    expect(blocks.length).toBeGreaterThan(4);
    // A network, process and mount namespace of its own, whose end takes containers, conmon and the daemon along.
    const setUp = "mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/netns /run/lock && ip link set lo up\n";
    const unshared = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    const ran = spawnSync(
      "unshare",
      [...unshared, "bash", "-e", "-u", "-o", "pipefail", "-c", `${setUp}${blocks.join("\n")}\necho done\n`],
      {
        cwd: root,
        encoding: "utf8",
        // Only ends a hang.
        timeout: 900_000,
        env: { ...process.env, PATH: podmanPath(directory) },
      },
    );
    if (ran.status !== 0) throw new Error(`the commands ended with ${ran.status}:\n${ran.stdout}\n${ran.stderr}`);
    expect(ran.stdout).toMatch(/\ndone\n$/);
    expect(ran.stdout).toContain("1 packets received");
  });
});
