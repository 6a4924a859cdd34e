// Services and pods on networks for tests.

/** A Service of the namespace `shop` for the network `shop/red`, as the admission policy leaves it. */
export function serviceObject(name: string, spec: object = {}, metadata: object = {}): Readonly<Record<string, unknown>> {
  const annotations = { "plexus.dev/network": "red", "plexus.dev/selector": "app=web" };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "shop", name, uid: `uid-${name}`, labels: { team: "a" }, annotations, ...metadata },
    spec: { clusterIPs: ["10.96.0.7"], ipFamilies: ["IPv4"], ports: [{ port: 80 }], ...spec },
  };
}

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** A ready pod of the namespace `shop` with these addresses by network. */
export function servedPod(name: string, addresses: Readonly<Record<string, readonly string[]>>, parts: PodParts = {}): object {
  const status = Object.entries(addresses).map(([network, ips], index) => ({ name: network, interface: `net${index + 1}`, ips }));
  return {
    metadata: {
      namespace: "shop",
      name,
      uid: `uid-${name}`,
      labels: { app: "web" },
      annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) },
      ...parts.metadata,
    },
    spec: { nodeName: "n1", containers: [], ...parts.spec },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...parts.status },
  };
}
