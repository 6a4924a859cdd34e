// CoreDNS on a cluster, in an image of the module's program.

import type { Cluster } from "../../cluster/cluster.ts";
import { explained } from "../../cluster/release.ts";
import { importPrograms } from "../programs-image.ts";
import { coreDnsObjects } from "./objects.ts";
import { coreDns } from "./programs.ts";

const image = "plexus.invalid/coredns:1";

/** Imports the image, applies CoreDNS and waits for its rollout. */
export async function deployCoreDns(cluster: Cluster): Promise<void> {
  importPrograms(cluster.nodes, { name: image, programs: { "/opt/bin/coredns": coreDns.path("coredns") } });
  await cluster.apply(...coreDnsObjects(image));
  await answering(cluster);
}

/** Waits until CoreDNS is ready. Throws with its log. */
export async function answering(cluster: Cluster): Promise<void> {
  const status = ["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=240s"];
  await cluster.succeed(...status).catch(async (error: unknown) => {
    const log = await cluster.kubectl("-n", "kube-system", "logs", "deployment/coredns", "--tail=40");
    throw new Error(`${String(error)}\n${log.stdout}${log.stderr}\n${await explained(cluster)}`, { cause: error });
  });
}
