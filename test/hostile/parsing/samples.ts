// Valid samples of what Plexus parses.

import { encodeCache } from "../../../src/cni/cache.ts";
import { readEnvironment } from "../../../src/cni/environment.ts";
import { parseNetworkList } from "../../../src/cni/network-list.ts";

/** A sample: digest. */
export const digest = `sha256:${"a".repeat(64)}`;
/** A sample: metadata. */
export const metadata = { name: "pods", namespace: "shop", uid: "u1", resourceVersion: "7", generation: 1, finalizers: ["a/b"], annotations: { "a/b": "c" }, labels: { a: "b" } }; // prettier-ignore
/** A sample: selection. */
export const selection = {
  name: "blue", namespace: "shop", ips: ["10.0.0.2/24"], mac: "02:00:00:00:00:01", interface: "net1",
  "cni-args": { key: { a: 1 } }, portMappings: [{ hostPort: 80, containerPort: 8080, protocol: "tcp", hostIP: "10.0.0.1" }],
  bandwidth: { ingressRate: 1000, ingressBurst: 100 }, "default-route": ["10.0.0.1"], "example.com/own": "x",
}; // prettier-ignore
/** A sample: plugin. */
export const plugin = {
  type: "bridge",
  bridge: "br0",
  capabilities: { ips: true },
  ipam: { type: "host-local", ranges: [[{ subnet: "10.0.0.0/24" }]] },
};
/** A sample: list. */
export const list = { cniVersion: "1.0.0", cniVersions: ["1.0.0"], name: "pods", disableGC: "true", plugins: [plugin] };
/** A sample: result. */
export const result = {
  cniVersion: "1.0.0",
  interfaces: [{ name: "eth0", mac: "02:00:00:00:00:01", sandbox: "/run/netns/a" }],
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 0 }, { address: "fd00::2/64" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }],
  dns: { nameservers: ["10.0.0.1"], search: ["a.b"], options: ["ndots:2"], domain: "a" },
};
/** A sample: host. */
export const host = {
  cniVersion: "1.0.0", name: "cluster", type: "plexus", clusterNetwork: "/etc/cni/net.d/10-a.conflist", binDir: "/opt/cni/bin",
  defaultNetworks: ["storage"], systemNamespaces: ["kube-system"], globalNamespaces: "default,shop", cniDir: "/var/lib/cni/plexus",
  steps: { bridge: { onFailure: { policy: "open" } } },
  wasm: { limits: { timeMs: 1000 }, grants: { bridge: { links: { bridges: ["br0"] }, sysctl: { keys: ["net/*/*"] } } }, keys: { a: "/etc/a.pem" } },
  definitions: { trusted: ["shop"], rules: [{ namespaces: ["shop"], plugins: ["bridge"] }] },
}; // prettier-ignore
/** A sample: config. */
export const config = JSON.stringify(list);
/** A sample: definition. */
export const definition = { metadata, spec: { config } };
/** A sample: port. */
export const port = {
  providerId: "p1", mac: "02:00:00:00:00:01", addresses: [{ address: "10.0.0.2/24", gateway: "10.0.0.1" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }], mtu: 1500, binding: { type: "ovs", interfaceId: "i1" },
}; // prettier-ignore
/** A sample: parsedList. */
export const parsedList = parseNetworkList(config);
/** A sample: networkConfig. */
export const networkConfig = {
  metadata: { name: "pods", namespace: "shop", uid: "u" }, ip_ranges: ["10.0.0.0/24"],
  cniv1_config: { cni_version: "1.0.0", network_name: "pods", plugins: [{ type: "bridge", capabilities: ["ips"], parameters: { ipam: '{"type":"host-local"}', mtu: "1500" } }] },
}; // prettier-ignore
/** A sample: manifest. */
export const manifest = {
  schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: { mediaType: "application/vnd.wasm.config.v0+json", digest, size: 10 },
  layers: [{ mediaType: "application/wasm", digest, size: 10, annotations: { a: "b" } }], annotations: { a: "b" },
}; // prettier-ignore
/** A sample: plan. */
export const plan = {
  kind: "plexusJournalV1", containerId: "c1", network: "cluster", ifname: "eth0", netns: "/run/netns/a", cniArgs: "", cniPath: "/opt", bootId: "b",
  attachments: [{ network: "pods", ifname: "eth0", source: "default", conflist: config, capabilityArgs: { ips: "[]" } }],
}; // prettier-ignore
/** A sample: key. */
export const key = { containerId: "c1", network: "cluster", ifname: "eth0" };
/** A sample: cached. */
export const cached = encodeCache({ ...key, config, netns: "/run/netns/a", args: [["A", "1"]], capabilityArgs: new Map([["ips", "[]"]]), result: JSON.stringify(result) }); // prettier-ignore
/** A sample: claims. */
export const claims = { metadata, spec: { nodeName: "n1", resourceClaims: [{ name: "a", resourceClaimName: "claim" }] }, status: { resourceClaimStatuses: [{ name: "a", resourceClaimName: "c" }], extendedResourceClaimStatus: { resourceClaimName: "x", requestMappings: [{ requestName: "r", resourceName: "e.com/nic" }] } } }; // prettier-ignore
/** A sample: claim. */
export const claim = { metadata: { name: "claim", namespace: "shop" }, status: { reservedFor: [{ resource: "pods", name: "p", uid: "u" }], allocation: { devices: { results: [{ request: "r", driver: "d.e", pool: "p", device: "d" }] } } } }; // prettier-ignore
/** A sample: pool. */
export const pool = { metadata: { ...metadata, namespace: undefined }, spec: { ranges: [{ subnet: "10.50.0.0/16", first: "10.50.1.0", last: "10.50.9.0", gateway: "10.50.0.1", static: ["10.50.2.0/28"] }], exclude: ["10.50.3.0/24"], blockSize: 64, conflictDetection: { waitMs: 250, probes: 2, detectGateway: true } }, status: { acceptedRanges: 1, addresses: [{ family: "IPv4", total: "65534", inBlocks: "64", free: "65470" }], conditions: [{ type: "Ready", status: "True" }] } }; // prettier-ignore
/** A sample: block. */
export const block = { metadata: { ...metadata, name: "pods-7" }, spec: { pool: "pods", index: 7, first: "10.50.1.0", last: "10.50.1.63", node: "n1", holder: "h", freeAfterSeconds: 14_400 } }; // prettier-ignore
/** A sample: reservation. */
export const reservation = { metadata, spec: { pool: "pods", address: "10.50.1.9", owner: { kind: "IPAMClaim", namespace: "shop", name: "c", uid: "u", interface: "net1" }, holders: [{ node: "n", pod: "p", podUid: "u", containerId: "c" }] } }; // prettier-ignore
/** A sample: kubeconfig. */
export const kubeconfig = {
  "current-context": "c", contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
  clusters: [{ name: "k", cluster: { server: "https://10.0.0.1:6443", "certificate-authority-data": "LS0t" } }],
  users: [{ name: "u", user: { token: "abc" } }],
}; // prettier-ignore
/** A sample: exec. */
export const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "get", args: ["a"], env: [{ name: "A", value: "b" }], interactiveMode: "Never", installHint: "install it" }; // prettier-ignore
/** A sample: execPlugin. */
export const execPlugin = { apiVersion: "client.authentication.k8s.io/v1", command: "get", args: [], env: {}, interactiveMode: "Never", installHint: "", cluster: undefined } as const; // prettier-ignore
/** A sample: credential. */
export const credential = { kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1", status: { token: "abc", expirationTimestamp: "2026-01-01T00:00:00Z" } }; // prettier-ignore
/** A sample: statement. */
export const statement = { _type: "https://in-toto.io/Statement/v1", subject: [{ digest: { sha256: "a".repeat(64) } }], predicateType: "https://sigstore.dev/cosign/sign/v1", predicate: {} }; // prettier-ignore

const servicePort = { name: "web", protocol: "TCP", port: 80, targetPort: 8080, appProtocol: "http" };
/** A sample: Service on a further network. */
export const service = { metadata: { ...metadata, annotations: { "plexus.dev/network": "shop/blue", "plexus.dev/selector": "app=web,tier=a" } }, spec: { clusterIPs: ["10.96.0.9", "fd00::9"], ipFamilies: ["IPv4", "IPv6"], ports: [servicePort], sessionAffinity: "ClientIP", publishNotReadyAddresses: true } }; // prettier-ignore
/** A sample: pod on a further network. */
export const servicePod = {
  metadata: { ...metadata, annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify([{ name: "shop/blue", interface: "net1", ips: ["10.0.0.2"] }]) } },
  spec: { nodeName: "n", hostname: "h", subdomain: "s", containers: [{ ports: [{ name: "web", containerPort: 8080 }] }] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
}; // prettier-ignore
/** A sample: EndpointSlice. */
export const serviceSlice = {
  metadata: { ...metadata, annotations: { "plexus.dev/service": { clusterIPs: ["10.96.0.9"], ports: [servicePort], affinity: true } } },
  addressType: "IPv4", ports: [servicePort],
  endpoints: [{ addresses: ["10.0.0.2"], conditions: { ready: true, serving: true, terminating: false }, hostname: "h", targetRef: { kind: "Pod", namespace: "shop", name: "p", uid: "u" }, nodeName: "n", zone: "z" }],
}; // prettier-ignore
const networkParameters = {
  apiVersion: "plexus.dev/v1alpha1",
  kind: "Network",
  list,
  interface: "net1",
  ips: ["10.0.0.2/24"],
  mac: "02:00:00:00:00:01",
};
/** A sample: ResourceClaim that is allocated to devices of Plexus. */
export const allocated = {
  metadata: { ...metadata, ownerReferences: [{ kind: "Pod", controller: true }] },
  status: {
    allocation: { devices: { config: [{ source: "FromClaim", requests: ["net"], opaque: { driver: "plexus.dev", parameters: networkParameters } }], results: [{ request: "net", driver: "plexus.dev", pool: "n", device: "eth1" }] } },
    reservedFor: [{ resource: "pods", name: "p", uid: "u" }],
  },
}; // prettier-ignore
/** A sample: settings of devices. */
export const deviceSettings = { devices: [{ name: "uplink", match: { name: "eth*", kind: "link", driver: "d", pciVendor: "0x15b3" }, shared: { attachments: 3, bandwidth: "10G" }, vlans: "100-199", networks: ["blue", "red"], whenDown: "withdraw" }] }; // prettier-ignore
/** A sample: prepared claim. */
export const preparedClaim = { kind: "plexusClaimV1", namespace: "shop", name: "c", uid: "u", pods: ["p"], isShareable: false, networks: [{ source: { kind: "list", text: config }, link: { name: "eth1", kind: "link", isExclusive: true } }], devices: [{ link: { name: "eth2", kind: "link", isExclusive: true } }] }; // prettier-ignore
const counters = { packets: 1, bytes: 2, errors: 0, drops: 0 };
const bothDirections = { receive: counters, transmit: counters };
/** A sample: traffic of links. */
export const linkTraffic = { apiVersion: "plexus/v1", kind: "LinkTraffic", ageMs: 5, links: [{ pod: "a/b", ifname: "net1", network: "shop/blue", ...bothDirections, rates: bothDirections }] }; // prettier-ignore

/** A sample: selectionKeys. */
export const selectionKeys = ["infiniband-guid", "ipam-claim-reference", "deviceID", "interfaceRequest"];

/** Reads an environment in which one variable has this text. */
export function environment(name: string): (text: string) => unknown {
  const call = {
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: "c1",
    CNI_NETNS: "/run/netns/a",
    CNI_IFNAME: "eth0",
    CNI_ARGS: "A=1",
    CNI_PATH: "/opt/cni/bin",
  };
  return (text) => readEnvironment(new Map(Object.entries({ ...call, [name]: text })));
}

/** A sample: words. */
export const words = (text: string): readonly string[] => text.split(" ");
