// The same addresses through whereabouts: each ADD elects a leader by a Lease, and then writes the pool's one object.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectionOf, objectsOf } from "../../test/lab/kube/apply.ts";
import type { ApiServer } from "../../test/lab/kube/api-server.ts";
import { whereaboutsDefinition, whereaboutsKinds } from "../../test/lab/kube/whereabouts-objects.ts";
import { type LaneCall, runLanes } from "../lanes.ts";
import { realWhereabouts, whereaboutsBinary } from "../../test/lab/whereabouts/whereabouts-binary.ts";

/** Time for the API server to serve the kinds, in ms. */
const servedMs = 3_000;

/** Milliseconds until `nodes` × `addresses` ADDs have succeeded, `nodes` of them at once; or the reason why there are none. Throws if an address was handed out twice. */
export async function allocateByWhereabouts(
  api: ApiServer,
  { nodes, addresses }: { readonly nodes: number; readonly addresses: number },
): Promise<number | string> {
  const lacking = realWhereabouts();
  const program = whereaboutsBinary();
  if (lacking !== undefined || program === undefined) return lacking ?? "no whereabouts";
  const objects = objectsOf(api.adminKubeconfig);
  const directory = mkdtempSync(join(tmpdir(), "plexus-whereabouts-"));
  try {
    for (const kind of whereaboutsKinds) {
      const definition = whereaboutsDefinition(kind);
      const made = await objects.create(collectionOf(definition), definition);
      if (made.kind !== "object") throw new Error(made.why);
    }
    await new Promise((resolve) => setTimeout(resolve, servedMs));
    const configuration = join(directory, "whereabouts.conf");
    const kubernetes = { kubeconfig: api.adminKubeconfig };
    writeFileSync(configuration, JSON.stringify({ datastore: "kubernetes", kubernetes }));
    const ipam = {
      type: "whereabouts",
      range: "10.200.0.0/16",
      configuration_path: configuration,
      log_file: join(directory, "log"),
      log_level: "error",
    };
    const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "bench", type: "bridge", ipam });
    const call = (node: number, index: number): LaneCall => ({
      program,
      stdin,
      env: {
        CNI_COMMAND: "ADD",
        CNI_CONTAINERID: `c-${node}-${index}`,
        CNI_NETNS: "/run/netns/none",
        CNI_IFNAME: "net1",
        CNI_PATH: directory,
        CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=bench;K8S_POD_NAME=p-${node}-${index}`,
        NODENAME: `bench-${node}`,
        PATH: "/usr/bin:/bin",
      },
    });
    const items = Array.from({ length: nodes }, (_, node) => Array.from({ length: addresses }, (__, index) => call(node, index)));
    const run = await runLanes(nodes, items);
    const failed = run.calls.filter(({ status }) => status !== 0);
    const found = run.calls.flatMap(({ stdout }) => /"address":\s*"([^"]+)"/u.exec(stdout)?.[1] ?? []);
    if (new Set(found).size !== found.length) throw new Error("whereabouts gave an address twice");
    const [first] = failed;
    if (first === undefined) return run.ms;
    const output = `${first.stdout}${first.stderr}`.replaceAll(/\s+/g, " ").slice(0, 300);
    return `${failed.length} of ${run.calls.length} ADDs of whereabouts failed after ${Math.round(run.ms)} ms: ${output}`;
  } finally {
    objects.close();
    rmSync(directory, { recursive: true });
  }
}
