// `kubectl plexus` as a plugin of the real kubectl: it finds the pod of Plexus on a pod's node and runs plexusctl there.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { version } from "../../host/system/version.ts";
import { type Cluster, startCluster } from "../harness/cluster/cluster.ts";
import { toolsImage } from "../harness/cluster/images.ts";
import { toolsPod } from "../harness/cluster/pods.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { root } from "../harness/compiled.ts";
import { kubectlBinary } from "../harness/kube/binaries.ts";
import { dist, missingBuild } from "../harness/plexus.ts";

const skip = missingCluster("kubectl plexus", () => missingBuild());

describe.skipIf(skip)("kubectl plexus", () => {
  let cluster: Cluster;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-kubectl-"));
    mkdirSync(join(directory, "bin"));
    symlinkSync(kubectlBinary() ?? "/usr/bin/kubectl", join(directory, "bin/kubectl"));
    symlinkSync(join(dist, "kubectl-plexus.cjs"), join(directory, "bin/kubectl-plexus"));
    cluster = await startCluster();
    const [node] = cluster.nodes;
    node.installNetwork();
    await cluster.nodesReady();
    const places = ["--home", join(node.disk, "opt/plexus"), "--cni-bin", join(node.disk, "opt/cni/bin")];
    execFileSync(process.execPath, [join(root, "scripts/install.ts"), ...places], { stdio: ["ignore", "ignore", "pipe"] });
    await cluster.apply(toolsPod("web"), plexusPod);
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=90s", "pod/web");
    await cluster
      .succeed("-n", "kube-system", "wait", "--for=condition=Ready", "--timeout=60s", "pod/plexus-node")
      .catch(async (error: unknown) => {
        const described = await cluster.kubectl("-n", "kube-system", "describe", "pod/plexus-node");
        const logs = await cluster.kubectl("-n", "kube-system", "logs", "pod/plexus-node");
        throw new Error(`${String(error)}\n${described.stdout}\n${logs.stdout}${logs.stderr}`, { cause: error });
      });
  }, 240_000);
  afterAll(async () => {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function plexus(...args: readonly string[]) {
    // kubectl finds plugins on PATH; the plugin's interpreter is Node.
    const env = {
      PATH: `${join(directory, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
      KUBECONFIG: cluster.kubeconfig,
      HOME: directory,
    };
    const { status, stdout, stderr } = spawnSync("kubectl", ["plexus", ...args], { encoding: "utf8", env, cwd: directory });
    return { status, stdout, stderr };
  }

  test("runs plexusctl on the node of a pod, and on a node", () => {
    const [node] = cluster.nodes;
    expect(plexus("web", "version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
    expect(plexus("-n", "default", "pod/web", "version")).toMatchObject({ status: 0, stdout: `${version}\n` });
    const status = plexus(`node/${node.name}`, "status", "-o", "json");
    expect(JSON.parse(status.stdout)).toMatchObject({ kind: "NodeStatus", daemon: { version } });
  });

  test("the exit status and the messages are those of plexusctl", () => {
    const refused = plexus("web", "explode");
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("plexusctl: unknown command explode");
  });

  test("sysdump writes the archive of the node here", () => {
    const [node] = cluster.nodes;
    const file = `plexus-sysdump-${node.name}.tar.gz`;
    expect(plexus(`node/${node.name}`, "sysdump")).toMatchObject({ status: 0, stdout: `${file}\n` });
    const names = execFileSync("tar", ["-tzf", join(directory, file)], { encoding: "utf8" });
    expect(names).toContain("plexus-sysdump/status.json\n");
    expect(names).toContain("plexus-sysdump/metrics.txt\n");
  });

  test.each([
    [["absent", "status"], 1, 'pods "absent" not found'],
    [["node/absent", "status"], 1, "no pod of Plexus (label app.kubernetes.io/name=plexus) runs on node absent"],
    [["--context", "absent", "web", "status"], 1, "absent"],
    [["web"], 2, "web: give a command of plexusctl after it"],
  ])("%j is refused with the reason", (args, status, why) => {
    const result = plexus(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toContain(why);
  });
});

/** The daemon in a container, with the node's installation and libraries in place of an image. */
const plexusPod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "plexus-node", namespace: "kube-system", labels: { "app.kubernetes.io/name": "plexus" } },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 2,
    tolerations: [{ operator: "Exists" }],
    containers: [
      {
        name: "plexusd",
        image: toolsImage,
        imagePullPolicy: "Never",
        command: ["/opt/plexus/bin/node", "--disable-warning=ExperimentalWarning", "/opt/plexus/plexusd.cjs"],
        readinessProbe: { exec: { command: ["test", "-S", "/run/plexus/status.sock"] }, periodSeconds: 1 },
        volumeMounts: [
          ...["/opt/plexus", "/lib", "/lib64", "/usr/lib"].map((path) => ({
            name: path.slice(1).replace("/", "-"),
            mountPath: path,
            readOnly: true,
          })),
          { name: "run", mountPath: "/run/plexus" },
          { name: "state", mountPath: "/var/lib/cni" },
        ],
      },
    ],
    volumes: [
      ...["/opt/plexus", "/lib", "/lib64", "/usr/lib"].map((path) => ({
        name: path.slice(1).replace("/", "-"),
        hostPath: { path },
      })),
      { name: "run", hostPath: { path: "/run/plexus", type: "DirectoryOrCreate" } },
      { name: "state", emptyDir: {} },
    ],
  },
};
