// A stage whose node reaches a real API server.

import type { ApiServer, CreatedPod } from "./api-server.ts";
import { kubeApi } from "./binaries.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../requires.ts";
import type { PodNamespace } from "../namespaces.ts";
import type { Answer } from "../plexus.ts";
import { type Attaching, openStage, type Stage } from "../stage.ts";

const native = ["bridge", "ptp", "host-local"] as const;

/** Whether this machine lacks a requirement of suites with a real API server and native reference plugins. Prints the reason. */
export function missingForKube(suite: string): boolean {
  return missing(suite, privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), referencePlugins(...native), kubeApi);
}

export interface Node extends Stage {
  /** The parameters with which the runtime attaches a pod of the API. The default network is a native bridge. */
  attaching(pod: CreatedPod, more?: object): Attaching & { readonly pod: ReturnType<Stage["pod"]> };
  /** Sends a call for the pod's interface eth0 to the daemon on this socket. No one-shot engine can answer in its place. */
  requestAt(socket: string, verb: string, attaching: Attaching & { readonly pod: PodNamespace }): Promise<Answer>;
  /** A native bridge plugin with native host-local, whose leases lie in the stage's directory. */
  bridge(name: string, subnet: string): object;
}

/** Opens a stage that reaches the API server. Default of `kubeconfig`: that of Plexus' service account. `plugins`: further native plugins. */
export function openNode(api: ApiServer, kubeconfig = api.plexus, plugins: readonly string[] = []): Node {
  return connectNode(openNodeStage(plugins), api, kubeconfig);
}

/** Opens the stage of a node that does not reach the API server yet. `plugins`: further native plugins; `components`: delegates. */
export function openNodeStage(plugins: readonly string[] = [], components: readonly string[] = []): Stage {
  // The run's daemon has a network namespace of its own, from which no API server can be reached.
  return openStage({ native: [...native, ...plugins], components, serving: "one-shot" });
}

/** Connects the stage's node to the API server. */
export function connectNode(stage: Stage, api: ApiServer, kubeconfig = api.plexus): Node {
  api.connect(stage.node);
  const bridge = (name: string, subnet: string): object => ({
    type: "bridge",
    bridge: `br-${name}`,
    ipam: { type: "host-local", ranges: [[{ subnet }]], dataDir: stage.leases },
  });
  return {
    ...stage,
    bridge,
    requestAt: (socket, verb, { config, containerId, pod, args }) =>
      stage.request({
        verb,
        config,
        containerId,
        ifname: "eth0",
        netns: pod.path,
        ...(args === undefined ? {} : { args }),
        env: { PLEXUS_SOCKET: socket, PLEXUS_HOME: "/nowhere" },
      }),
    attaching: (pod, more = {}) => ({
      config: stage.network([bridge("pods", "10.10.0.0/24")], { kubeconfig, ...more }),
      containerId: `ctr-${pod.name}`,
      pod: stage.pod(),
      args: pod.args,
    }),
  };
}
