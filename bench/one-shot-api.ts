// one-shot-api: a pod with one secondary network through a one-shot engine, read from a real API server, against the same pod
// read from a directory of manifests. The difference is the cost of the API's requests.

import { join } from "node:path";

import { manifestsIn } from "../test/lab/manifests.ts";
import type { Attaching } from "../test/lab/stage.ts";
import { missingBuild } from "../test/lab/plexus.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { inTurns, type Benchmark } from "./measure.ts";

export const oneShotApi: Benchmark = {
  id: "one-shot-api",
  title: "ADD of a pod with one secondary network, read from and reported to a Kubernetes API / a directory of manifests",
  target: "none yet",
  async sample() {
    const lacking = missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins("bridge", "host-local")() ?? kubeApi();
    if (lacking !== undefined) return lacking;
    // Imported here because the official client, which makes the objects, takes longer to load than the other benchmarks.
    const { startApiServer } = await import("../test/lab/kube/api-server.ts");
    const { openNode } = await import("../test/lab/kube/node.ts");
    const api = await startApiServer();
    const node = openNode(api);
    try {
      const storage = node.bridge("storage", "10.20.0.0/16");
      const manifests = manifestsIn(join(node.plexus.directory, "manifests"));
      manifests.network("storage", [storage]);
      manifests.pod("web", "storage");
      await api.network("shop", "storage", [storage]);
      const pod = await api.pod("shop", "web", "storage");
      const fromApi = node.attaching(pod);
      const listed = { ...node.attaching(pod, { kubeconfig: "", manifests: manifests.directory }) };
      const timed = async (attaching: Attaching): Promise<number> => {
        const { ms } = await node.succeed("ADD", attaching);
        await node.succeed("DEL", attaching);
        return ms;
      };
      return await inTurns({
        subject: () => timed(fromApi),
        baseline: () => timed({ ...listed, args: manifests.argsOf("web") }),
        warmUp: 3,
        samples: 30,
      });
    } finally {
      node.dispose();
      await api.dispose();
    }
  },
};
