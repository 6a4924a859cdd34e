// Plexus' chart on a cluster, with images of the build in dist/.

import { join } from "node:path";

import { root } from "../compiled.ts";
import type { Cluster } from "./cluster.ts";
import { plexusRepository } from "./plexus-image.ts";

const chart = join(root, "deploy", "helm", "plexus");
const namespace = ["--namespace", "kube-system"];

/**
 * Installs or upgrades the release `plexus` to the image with this tag, and waits for its rollout. `more` are further arguments of helm. Throws with
 * logs and events.
 */
export async function deployPlexus(
  cluster: Cluster,
  verb: "install" | "upgrade",
  tag: string,
  ...more: readonly string[]
): Promise<void> {
  await helm(cluster, verb, "plexus", chart, ...namespace, "--wait", "--timeout", "120s", ...settings(tag), ...more);
  await rolledOut(cluster);
}

/** Upgrades the release to settings with which no daemon gets ready, and waits for nothing. Throws if helm refuses them. */
export async function breakPlexus(cluster: Cluster, tag: string, ...more: readonly string[]): Promise<void> {
  await helm(cluster, "upgrade", "plexus", chart, ...namespace, "--set", "ready.wait=false", ...settings(tag), ...more);
}

function settings(tag: string): readonly string[] {
  const image = `image.repository=${plexusRepository},image.pullPolicy=Never,image.tag=${tag}`;
  return ["--set", image, "--set-json", 'definitions={"trusted":["*"]}'];
}

/** Rolls the release back to a revision, by default the one before, and waits for the rollout. */
export async function rollBackPlexus(cluster: Cluster, revision = 0): Promise<void> {
  await helm(cluster, "rollback", "plexus", String(revision), ...namespace, "--wait", "--timeout", "120s");
  await rolledOut(cluster);
}

/** Uninstalls the release. */
export async function removePlexus(cluster: Cluster): Promise<void> {
  await helm(cluster, "uninstall", "plexus", ...namespace, "--wait", "--timeout", "120s");
}

/** Waits until the DaemonSet's pods are new and ready. Helm 3 counts a DaemonSet as ready while `maxUnavailable` of its pods are not. */
async function rolledOut(cluster: Cluster): Promise<void> {
  const { status, stderr } = await cluster.kubectl(
    "-n",
    "kube-system",
    "rollout",
    "status",
    "daemonset/plexus",
    "--timeout=120s",
  );
  if (status !== 0) throw new Error(`${stderr}\n${await explained(cluster)}`);
}

async function helm(cluster: Cluster, ...args: readonly string[]): Promise<void> {
  const { status, stderr } = await cluster.helm(...args);
  if (status !== 0) throw new Error(`helm ${args.join(" ")}: ${stderr}\n${await explained(cluster)}`);
}

/** Pods, warnings and the logs of Plexus' pods, for a failed test. */
export async function explained(cluster: Cluster): Promise<string> {
  const all = [
    await cluster.kubectl("get", "pods", "-A", "-o", "wide"),
    await cluster.kubectl("get", "events", "-A", "--field-selector=type!=Normal,reason!=MissingClusterDNS"),
    await cluster.kubectl("-n", "kube-system", "logs", "-l", "app.kubernetes.io/name=plexus", "--all-containers", "--tail=30"),
  ];
  return all.map(({ stdout, stderr }) => `${stdout.slice(-6000)}${stderr.slice(-1000)}`).join("\n");
}
