// claims-prepare: NodePrepareResources of a claim as the kubelet sees it, against a read of the same claim. claims-pod0: an ADD whose network a claim asks
// for, against the same network by annotation, both by one daemon. claims-memory: the memory of a daemon with 1,000 claims.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { DeviceFiles } from "../features/claims/driver/device-files.ts";
import { serveDriver } from "../features/claims/driver/driver-server.ts";
import { claimPath } from "../features/claims/driver/prepare-claims.ts";
import { ClaimStore } from "../features/claims/node/claim-store.ts";
import { readDeviceSettings } from "../features/claims/rules/device-settings.ts";
import type { PreparedClaim } from "../features/claims/rules/prepared-claim.ts";
import { type OfferedDevice, offeredDevices } from "../features/claims/rules/offered-devices.ts";
import { systemClock } from "../host/system/clock.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { manifestsIn, uidOf } from "../test/lab/manifests.ts";
import type { ApiObjects } from "../host/cluster/kube/api-objects.ts";
import { createPodNamespace, missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { rssMiB } from "./observed-daemon.ts";
import { startStopwatch } from "./stopwatch.ts";
import { hostConfiguration } from "./host-configuration.ts";

const claims = 60;
const link = { name: "eth1", kind: "link", isUp: true, isAdminUp: true, hasRdma: false } as const;
const unknown = { mtu: undefined, speed: undefined, driver: undefined, pciAddress: undefined };
const facts = { ...unknown, pcieRoot: undefined, pciVendor: undefined, numaNode: undefined };

function devices(): readonly OfferedDevice[] {
  const entry = { name: "nic", match: { name: link.name }, shared: { attachments: 100 } };
  const settings = readDeviceSettings(JSON.stringify({ devices: [entry] }));
  return settings.ok ? offeredDevices(settings.value, [{ ...link, ...facts }]).devices : [];
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  const answer = JSON.stringify(await work());
  if (answer.includes('"error":"r')) throw new Error(answer);
  return performance.now() - began;
};

/** A claim of the API. */
interface MadeClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The kubelet's side of the driver's socket. */
function kubeletAt(socket: string): { readonly kubelet: Client; readonly prepare: (claim: object) => Promise<object> } {
  const file = join(import.meta.dirname, "../test/lab/cluster/resource-driver.proto");
  const service = loadSync(file)["k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"] as ServiceDefinition;
  const kubelet = new Client(`unix:${socket}`, credentials.createInsecure());
  const prepare = (claim: object): Promise<object> =>
    new Promise((resolve, reject) => {
      const method = service["NodePrepareResources"];
      if (method === undefined) throw new Error(file);
      const { path, requestSerialize, responseDeserialize } = method;
      kubelet.makeUnaryRequest(path, requestSerialize, responseDeserialize, { claims: [claim] }, (error, value) =>
        error === null ? resolve(value ?? {}) : reject(error),
      );
    });
  return { kubelet, prepare };
}

/** Creates the claims, and allocates a device of the node to each. */
async function allocatedClaims(admin: ApiObjects): Promise<readonly MadeClaim[]> {
  const made: MadeClaim[] = [];
  const spec = { devices: { requests: [{ name: "net", exactly: { deviceClassName: "links" } }] } };
  const parameters = { apiVersion: "plexus.dev/v1alpha1", kind: "Network", definition: { name: "blue" } };
  const allocation = {
    devices: {
      results: [{ request: "net", driver: "plexus.dev", pool: "node", device: "nic-eth1" }],
      config: [{ source: "FromClaim", opaque: { driver: "plexus.dev", parameters } }],
    },
  };
  const collection = claimPath({ namespace: "shop", name: "" }).replace(/\/$/, "");
  for (let index = 0; index < claims; index++) {
    const name = `claim-${index}`;
    const created = await admin.create(collection, {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name },
      spec,
    });
    if (created.kind !== "object") throw new Error(created.why);
    const status = { allocation, reservedFor: [{ resource: "pods", name: "web", uid: "pod-1" }] };
    await admin.replace(`${collection}/${name}/status`, { ...created.object, status });
    made.push({ namespace: "shop", name, uid: (created.object["metadata"] as { readonly uid: string }).uid });
  }
  return made;
}

async function measurePrepare(): Promise<Samples | string> {
  const lacking = missingPrivateNamespaces() ?? kubeApi();
  if (lacking !== undefined) return lacking;
  // Imported here because the official client takes longer to load than other benchmarks.
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const { objectsOf } = await import("../test/lab/kube/apply.ts");
  const verbs = ["get", "create", "update"].flatMap((verb) => [`${verb} resourceclaims`, `${verb} resourceclaims/status`]);
  const api = await startApiServer({ alsoAllowed: verbs });
  const directory = mkdtempSync(join(tmpdir(), "plexus-claims-bench-"));
  const admin = objectsOf(api.adminKubeconfig);
  const socket = join(directory, "plexus.dev-reg.sock");
  const served = await serveDriver({
    nodeName: "node",
    api: async () => admin,
    store: new ClaimStore(directory),
    files: new DeviceFiles(undefined, directory),
    device: (name) => devices().find((each) => each.name === name),
    socket,
    uids: [process.getuid?.() ?? -1],
    clock: systemClock,
    log: () => undefined,
    onRegistered: () => undefined,
  });
  if (!served.ok) throw new Error(served.fault.msg);
  const { kubelet, prepare } = kubeletAt(socket);
  try {
    await api.namespace("shop");
    const made = await allocatedClaims(admin);
    const [toPrepare, toRead] = [made[Symbol.iterator](), made[Symbol.iterator]()];
    const next = (list: typeof toPrepare): MadeClaim => {
      const { value } = list.next();
      if (value === undefined) throw new Error("no claim is left");
      return value;
    };
    return await inTurns({
      subject: () => timed(() => prepare(next(toPrepare))),
      baseline: () => timed(() => admin.get(claimPath(next(toRead)))),
      warmUp: 10,
      samples: claims - 10,
    });
  } finally {
    kubelet.close();
    served.value.close();
    await api.dispose();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface ClaimPods {
  /** Attaches and detaches a pod: `claiming` has its further network by a claim, `annotated` the same by annotation. Answers the ADD's milliseconds. */
  readonly addOf: (socket: string, name: "claiming" | "annotated") => Promise<number>;
  readonly store: ClaimStore;
  /** A directory for daemons' sockets. */
  readonly sockets: string;
  dispose(): Promise<void>;
}

/** A prepared claim for the further network. */
function preparedClaim(uid: string, pod: string): PreparedClaim {
  return {
    namespace: "shop",
    name: uid,
    uid,
    pods: [pod],
    isShareable: false,
    networks: [
      {
        request: "net",
        pool: "node",
        device: "bridge",
        shareId: "",
        isOfClass: false,
        source: { kind: "definition", namespace: "shop", name: "further" },
        link: { name: "cbench1", kind: "bridge", isExclusive: false },
      },
    ],
  };
}

function claimPods(): ClaimPods {
  const plexus = installPlexus({ native });
  const stopwatch = startStopwatch();
  const pod = createPodNamespace("bench");
  const manifests = manifestsIn(join(plexus.directory, "manifests"));
  const ranges = [[{ subnet: "10.89.0.0/16" }]];
  const further = { type: "bridge", bridge: "cbench1", ipam: { type: "host-local", ranges } };
  manifests.network("further", [further]);
  manifests.pod("annotated", "further");
  manifests.pod("claiming");
  const store = new ClaimStore(plexus.state("lib"));
  const written = store.write(preparedClaim("claim-1", uidOf("claiming")));
  if (!written.ok) throw new Error(written.fault.msg);
  const config = hostConfiguration(plexus, "bench", {
    manifests: manifests.directory,
    claims: true,
    delegates: [
      {
        cniVersion: "1.0.0",
        name: "pods",
        plugins: [{ ...further, bridge: "cbench0", ipam: { type: "host-local", subnet: "10.90.0.0/16" } }],
      },
    ],
  });
  let containers = 0;
  return {
    store,
    sockets: join(plexus.directory, "daemon"),
    async addOf(socket, name) {
      const call = { containerId: `c-${containers++}`, netns: pod.path, ifname: "eth0", args: manifests.argsOf(name), config };
      const run = (verb: "ADD" | "DEL"): Promise<{ readonly ms: number; readonly stdout: string }> => {
        const env = runtimeEnvironment({ verb, ...call, env: { PLEXUS_SOCKET: socket } }, plexus.cniPath);
        return stopwatch.run({ argv: [join(plexus.cniPath, "plexus")], env, stdin: JSON.stringify(config) });
      };
      const added = await run("ADD");
      if (pod.links().length !== 2) throw new Error(`the pod ${name} lacks a link: ${added.stdout}`);
      await run("DEL");
      return added.ms;
    },
    async dispose() {
      await stopwatch.dispose();
      pod.dispose();
      plexus.dispose();
    },
  };
}

const native = ["bridge", "host-local"];
const missingForPods = (): string | undefined => missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)();

async function measurePod(): Promise<Samples | string> {
  const lacking = missingForPods();
  if (lacking !== undefined) return lacking;
  const pods = claimPods();
  const { socket, stop } = await startDaemon({ socket: join(pods.sockets, "plexus.sock") });
  try {
    const sample = (name: "claiming" | "annotated") => () => pods.addOf(socket, name);
    return await inTurns({ subject: sample("claiming"), baseline: sample("annotated"), warmUp: 5, samples: 60 });
  } finally {
    await stop();
    await pods.dispose();
  }
}

const manyClaims = 1_000;
/** Pods that come and go before the daemon's memory is read: each ADD looks at all claims of the pod's namespace. */
const podsBeforeReading = 30;

async function measureMemory(): Promise<Samples | string> {
  const lacking = missingForPods();
  if (lacking !== undefined) return lacking;
  const pods = claimPods();
  const uids = Array.from({ length: manyClaims }, (_, index) => `more-${index}`);
  let daemons = 0;
  const memory = async (): Promise<number> => {
    const daemon = await startDaemon({ socket: join(pods.sockets, `${daemons++}`, "plexus.sock") });
    try {
      for (let pod = 0; pod < podsBeforeReading; pod++) await pods.addOf(daemon.socket, "claiming");
      return rssMiB(daemon.pid);
    } finally {
      await daemon.stop();
    }
  };
  try {
    return await inTurns({
      async subject() {
        for (const uid of uids) pods.store.write(preparedClaim(uid, `pod-of-${uid}`));
        const taken = await memory();
        for (const uid of uids) pods.store.remove(uid);
        return taken;
      },
      baseline: memory,
      warmUp: 0,
      samples: 5,
    });
  } finally {
    await pods.dispose();
  }
}

/** `claims-prepare`, `claims-pod0`, `claims-memory`. */
export const claimBenchmarks: readonly Benchmark[] = [
  {
    id: "claims-prepare",
    title: "NodePrepareResources of one claim by gRPC, against a read of the claim from the API",
    target: "median at most 5 ms",
    sample: measurePrepare,
  },
  {
    id: "claims-pod0",
    title: "ADD of a pod whose further network a claim asks for, against the same network by annotation",
    target: "median at most 1 ms above",
    difference: true,
    sample: measurePod,
  },
  {
    id: "claims-memory",
    title: "resident set of a daemon with 1,000 claims on its node, against one with a single claim",
    target: "at most 15 MiB above",
    unit: "MiB",
    difference: true,
    sample: measureMemory,
  },
];
