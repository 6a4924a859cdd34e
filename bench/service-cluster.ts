// A cluster with many Services on further networks: its objects, and the watches of its nodes in a process of their own.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { networkId } from "../features/services/network-id.ts";
import { endpointGroups } from "../features/services/rules/endpoint.ts";
import { readMemberPod } from "../features/services/rules/member-pod.ts";
import { readService } from "../features/services/rules/service.ts";
import { sliceMeta, sliceObject } from "../features/services/rules/service-slice.ts";
import type { ServedObject } from "../test/lab/kube/object-collections.ts";
import { paths } from "./followed-node.ts";
import type { ObjectChanges } from "./object-server-process.ts";

/** The numbers of objects. */
export interface ClusterSize {
  readonly namespaces: number;
  readonly networks: number;
  readonly services: number;
  readonly pods: number;
  readonly nodes: number;
}

/** A pod on further networks. */
export interface EndpointPod {
  readonly namespace: string;
  readonly name: string;
  readonly app: string;
  readonly node: string;
  /** The pod's address on each network. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** The object of a pod that is ready. */
export function endpointPod({ namespace, name, app, node, addresses }: EndpointPod): ServedObject {
  const status = Object.entries(addresses).map(([network, ip], index) => ({
    name: network,
    interface: `net${index + 1}`,
    ips: [ip],
    default: false,
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace,
      name,
      uid: `pod-${name}`,
      labels: { app, "pod-template-hash": "6d4cf56db6" },
      annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) },
    },
    spec: { nodeName: node, containers: [{ name: "main", image: "example.invalid/main", ports: [{ containerPort: 8080 }] }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** Changes the readiness of a pod, by `NAMESPACE/NAME`. */
export function setReady(api: ObjectChanges, key: string, isReady: boolean): void {
  api.change(paths.pods, key, { status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] } });
}

/** A cluster. */
export interface ServiceCluster {
  /** Makes all objects. */
  readonly fill: (api: ObjectChanges) => void;
  /** The networks of a node's pods. All nodes have the first network. */
  readonly networksOfNode: (node: number) => readonly string[];
  /** A pod of the first network, with the number of its Services. */
  readonly pod: (index: number) => { readonly key: string; readonly address: string; readonly services: number };
}

/** Networks of each node. */
const networksOfNode = 20;

const addressOf = (network: number, pod: number): string =>
  `10.${network === 0 ? 100 : 101}.${Math.floor(pod / 250)}.${(pod % 250) + 1}`;

/** Each Service selects the pods of one application, which are on the Service's network and on the first one. */
export function clusterOf(size: ClusterSize): ServiceCluster {
  const perService = size.pods / size.services;
  const namespaceOf = (service: number): string => `team-${service % size.namespaces}`;
  const networkOf = (service: number): string => `nets/net-${service % size.networks}`;
  const podOf = (index: number): EndpointPod => {
    const service = Math.floor(index / perService);
    const addresses = { "nets/net-0": addressOf(0, index), [networkOf(service)]: addressOf(service % size.networks, index) };
    const node = `node-${index % size.nodes}`;
    return {
      namespace: namespaceOf(service),
      name: `app-${service}-${index % perService}`,
      app: `app-${service}`,
      node,
      addresses,
    };
  };
  return {
    fill(api) {
      for (let node = 0; node < size.nodes; node++) {
        const labels = { "topology.kubernetes.io/zone": `zone-${node % 3}` };
        api.put(paths.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: `node-${node}`, labels } });
      }
      for (let index = 0; index < size.services; index++) {
        const annotations = { "plexus.dev/network": networkOf(index), "plexus.dev/selector": `app=app-${index}` };
        const ip = `10.96.${Math.floor(index / 250)}.${(index % 250) + 1}`;
        const own = { namespace: namespaceOf(index), name: `service-${index}`, uid: `service-${index}` };
        const object = {
          apiVersion: "v1",
          kind: "Service",
          metadata: { ...own, labels: { team: "a" }, annotations },
          spec: {
            clusterIP: ip,
            clusterIPs: [ip],
            ipFamilies: ["IPv4"],
            ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }],
          },
        };
        api.put(paths.services, object);
        const pods = Array.from({ length: perService }, (_, pod) => endpointPod(podOf(index * perService + pod)));
        for (const pod of pods) api.put(paths.pods, pod);
        putSlice(api, object, pods);
      }
    },
    networksOfNode: (node) => [
      "nets/net-0",
      ...Array.from({ length: networksOfNode - 1 }, (_, index) => `nets/net-${(node * 3 + index * 7 + 1) % size.networks}`),
    ],
    pod(index) {
      // The Services with these numbers are on the first network.
      const { namespace, name, addresses } = podOf(index * size.networks * perService);
      return { key: `${namespace}/${name}`, address: addresses["nets/net-0"] ?? "", services: 1 };
    },
  };
}

const zoneOf = (node: string): string => `zone-${Number(node.slice("node-".length)) % 3}`;

/** Makes the slice that plexus-controller has written for a Service: a controller that starts anew has nothing to write. */
function putSlice(api: ObjectChanges, object: unknown, pods: readonly ServedObject[]): void {
  const service = readService(object);
  if (service === undefined || "problem" in service) throw new Error(`a Service of the cluster: ${service?.problem}`);
  const members = pods.flatMap((each) => {
    const pod = readMemberPod(each);
    return pod === undefined ? [] : [{ name: each.metadata.name, pod }];
  });
  const meta = sliceMeta(service, networkId(service.network));
  for (const content of endpointGroups(service, members, zoneOf))
    api.put(paths.endpointSlices, sliceObject(service, `${service.name}-plexus-0`, meta, content) as unknown as ServedObject);
}

/** The nodes' watches. */
export interface SimulatedNodes {
  /** Resolves when each node has listed its slices. */
  listed(): Promise<void>;
  /** Resolves when each node that has the network balances this address, or does no longer. */
  all(address: string, isBalanced: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the nodes in a process of their own. */
export function startNodes(init: {
  readonly kubeconfig: string;
  readonly count: number;
  readonly networks: (node: number) => readonly string[];
}): SimulatedNodes {
  const child: ChildProcess = fork(join(import.meta.dirname, "service-nodes.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const networks = Array.from({ length: init.count }, (_, node) => init.networks(node));
  child.send({ kubeconfig: init.kubeconfig, networks });
  const ask = async (question: object): Promise<void> => {
    const limit = AbortSignal.timeout(300_000);
    const answered = once(child, "message", { signal: limit });
    child.send(question);
    await answered;
  };
  return {
    listed: () => ask({ ask: "listed" }),
    all: (address, isBalanced) => ask({ ask: "all", address, isBalanced }),
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
