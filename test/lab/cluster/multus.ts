// Thick Multus on a cluster, with the privileges, limits and mounts of its published DaemonSet, in an image of the pinned release's programs.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { multusBinary } from "../multus/multus-binary.ts";
import { root } from "../compiled.ts";
import { writeImage } from "../oci-image.ts";
import type { Cluster } from "./cluster.ts";
import { busybox } from "./images.ts";
import type { ClusterNode } from "./node.ts";

const repository = "multus.invalid/multus";
const namespace = "kube-system";
const labels = { name: "multus" };

/** The DaemonSet, as `kubectl` names it. */
export const multusDaemonSet = "kube-multus-ds";

/** The file that thick Multus writes for the runtime. */
const multusFile = "00-multus.conf";

const writtenMs = 60_000;

/** Imports Multus' image with this tag on nodes. Images with different tags have different digests. */
export function importMultus(nodes: readonly ClusterNode[], tag: string): void {
  const directory = mkdtempSync(join(tmpdir(), "multus-image-"));
  try {
    const output = join(directory, "image.tar");
    const config = { Env: ["PATH=/bin"], Labels: { "org.opencontainers.image.version": tag } };
    writeImage(output, { name: `${repository}:${tag}`, config, fill: fillMultus });
    for (const node of nodes) node.importImage(output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes Multus' programs below a directory. */
export function fillMultus(layer: string): void {
  for (const name of ["bin", "etc", "run", "tmp", "var"]) mkdirSync(join(layer, name));
  // The runtime names /var/run/netns, and the DaemonSet mounts /run/netns.
  symlinkSync("/run", join(layer, "var", "run"));
  // The daemon ends with a nil pointer if it does not find its user's name.
  writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/bin/sh\n");
  copyFileSync(busybox() ?? "", join(layer, "bin", "busybox"));
  for (const name of ["sh", "cp", "mv"]) symlinkSync("busybox", join(layer, "bin", name));
  for (const name of ["multus-daemon", "multus-shim"] as const) {
    copyFileSync(multusBinary(name) ?? "", join(layer, "bin", name));
    chmodSync(join(layer, "bin", name), 0o755);
  }
}

/** Applies the definition of NetworkAttachmentDefinitions, and Multus with the image of this tag, and waits for its rollout and its file. */
export async function deployMultus(cluster: Cluster, tag: string): Promise<void> {
  await cluster.succeed("apply", "-f", join(root, "deploy", "crd.yaml"));
  await cluster.apply(...multusObjects(tag));
  await cluster.succeed("-n", namespace, "rollout", "status", `daemonset/${multusDaemonSet}`, "--timeout=120s");
  // The DaemonSet has no probe, so a pod counts as ready before Multus has written its file.
  const deadline = performance.now() + writtenMs;
  for (const { disk, name } of cluster.nodes) {
    while (!isWritten(join(disk, "etc", "cni", "net.d", multusFile))) {
      if (performance.now() > deadline) throw new Error(`Multus did not write ${multusFile} on ${name}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Whether the file has a whole configuration. Multus does not write it atomically. */
function isWritten(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return true;
  } catch {
    return false;
  }
}

/** The objects of Multus. */
export function multusObjects(tag: string): readonly object[] {
  const named = { name: "multus", namespace };
  const rbac = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: named },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: "multus" },
      rules: [
        { apiGroups: ["k8s.cni.cncf.io"], resources: ["*"], verbs: ["*"] },
        { apiGroups: [""], resources: ["pods", "pods/status"], verbs: ["get", "list", "update", "watch"] },
        { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "multus" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "multus" },
      subjects: [{ kind: "ServiceAccount", ...named }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "multus-daemon-config", namespace },
      data: { "daemon-config.json": JSON.stringify(daemonConfiguration) },
    },
    daemonSet(tag),
  ];
}

/** The published daemon-config.json. */
const daemonConfiguration = {
  chrootDir: "/hostroot",
  cniVersion: "0.3.1",
  logLevel: "verbose",
  logToStderr: true,
  cniConfigDir: "/host/etc/cni/net.d",
  multusAutoconfigDir: "/host/etc/cni/net.d",
  multusConfigFile: "auto",
  socketDir: "/host/run/multus/",
};

/** The daemon's mounts: volume, directory of the node, path in the container. */
const hostDirectories = [
  ["cni", "/etc/cni/net.d", "/host/etc/cni/net.d"],
  ["plugins", "/opt/cni/bin", "/opt/cni/bin"],
  ["run", "/run", "/host/run"],
  ["state", "/var/lib/cni/multus", "/var/lib/cni/multus"],
  ["kubelet", "/var/lib/kubelet", "/var/lib/kubelet"],
  ["devices", "/run/k8s.cni.cncf.io", "/run/k8s.cni.cncf.io"],
  ["namespaces", "/run/netns", "/run/netns"],
  ["node", "/", "/hostroot"],
  ["named", "/etc/cni/multus/net.d", "/etc/cni/multus/net.d"],
] as const;
const propagated: readonly string[] = ["kubelet", "namespaces", "node"];

function daemonSet(tag: string): object {
  const container = { image: `${repository}:${tag}`, imagePullPolicy: "Never", securityContext: { privileged: true } };
  const mounts = hostDirectories.map(([name, , mountPath]) => ({
    name,
    mountPath,
    ...(propagated.includes(name) ? { mountPropagation: "HostToContainer" } : {}),
  }));
  const volumes = hostDirectories.map(([name, path]) => ({ name, hostPath: { path, type: "DirectoryOrCreate" } }));
  const install =
    "cp /bin/multus-shim /host/opt/cni/bin/.multus-shim && mv /host/opt/cni/bin/.multus-shim /host/opt/cni/bin/multus-shim";
  const daemon = {
    ...container,
    name: "kube-multus",
    command: ["/bin/multus-daemon", "-config", "/etc/cni/net.d/multus.d/daemon-config.json"],
    resources: { requests: { cpu: "100m", memory: "50Mi" }, limits: { cpu: "100m", memory: "50Mi" } },
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [...mounts, { name: "configuration", mountPath: "/etc/cni/net.d/multus.d", readOnly: true }],
    env: [{ name: "MULTUS_NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: multusDaemonSet, namespace },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          hostPID: true,
          serviceAccountName: "multus",
          terminationGracePeriodSeconds: 10,
          tolerations: ["NoSchedule", "NoExecute"].map((effect) => ({ operator: "Exists", effect })),
          initContainers: [
            {
              ...container,
              name: "install-multus-binary",
              command: ["/bin/sh", "-c", install],
              volumeMounts: [{ name: "plugins", mountPath: "/host/opt/cni/bin", mountPropagation: "Bidirectional" }],
            },
          ],
          containers: [daemon],
          volumes: [...volumes, { name: "configuration", configMap: { name: "multus-daemon-config" } }],
        },
      },
    },
  };
}
