// `kubectl plexus` as a plugin of the real kubectl: it finds the pod of Plexus on a pod's node and runs plexusctl there.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { version } from "../../host/system/version.ts";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { kubectlBinary } from "../lab/kube/binaries.ts";
import { helm } from "../lab/kube/helm.ts";
import { dist, missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("kubectl plexus", helm, () => missingBuild());

describe.skipIf(skip)("kubectl plexus", () => {
  let cluster: Cluster;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-kubectl-"));
    mkdirSync(join(directory, "bin"));
    symlinkSync(kubectlBinary() ?? "/usr/bin/kubectl", join(directory, "bin/kubectl"));
    for (const name of ["kubectl-plexus", "kubectl_complete-plexus"])
      symlinkSync(join(dist, "kubectl-plexus.cjs"), join(directory, "bin", name));
    cluster = await clusterWithPlexus("--set", "probes.enabled=true");
    await cluster.apply(toolsPod("web"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/web");
  }, 240_000);
  afterAll(async () => {
    if (cluster !== undefined) {
      await cluster.succeed("delete", "pods", "--all", "--timeout=120s");
      await cluster.stop();
    }
    rmSync(directory, { recursive: true, force: true });
  });

  function kubectl(...args: readonly string[]) {
    // kubectl finds plugins on PATH; the plugin's interpreter is Node.
    const env = {
      PATH: `${join(directory, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
      KUBECONFIG: cluster.kubeconfig,
      HOME: directory,
    };
    const { status, stdout, stderr } = spawnSync("kubectl", args, { encoding: "utf8", env, cwd: directory });
    return { status, stdout, stderr };
  }
  const plexus = (...args: readonly string[]) => kubectl("plexus", ...args);
  const completed = (...words: readonly string[]): readonly string[] =>
    kubectl("__complete", "plexus", ...words).stdout.split("\n");

  test("runs plexusctl on the node of a pod, and on a node", () => {
    const [node] = cluster.nodes;
    expect(plexus("web", "version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
    expect(plexus("-n", "default", "pod/web", "version")).toMatchObject({ status: 0, stdout: `${version}\n` });
    const status = plexus(`node/${node.name}`, "status", "-o", "json");
    expect(JSON.parse(status.stdout)).toMatchObject({ kind: "NodeStatus", daemon: { version } });
  });

  test("explain says what a network's steps may do on the node, and doctor finds nothing", () => {
    const explained = plexus("web", "explain", "default/storage");
    expect(explained).toMatchObject({ status: 0, stderr: "" });
    expect(explained.stdout).toContain("ipam-host-local");
    const examined = plexus("web", "doctor", "--prove-sandbox");
    expect([examined.status, examined.stdout]).toEqual([0, expect.stringContaining("process")]);
  });

  test("the exit status and the messages are those of plexusctl", () => {
    const refused = plexus("web", "explode");
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("plexusctl: unknown command explode");
  });

  test("PR-05: probe asks a network from a pod on the pod's node, and kubectl completes its words", async () => {
    const annotations = { "k8s.v1.cni.cncf.io/networks": "storage" };
    for (const name of ["asks", "answers"]) await cluster.apply(toolsPod(name, { annotations }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/asks", "pod/answers");
    const probed = plexus("probe", "asks", "storage", "-o", "json");
    // The network's bridge has no address, so that nothing has the gateway's.
    const targets = [
      { what: "gateway", outcome: "no-neighbour" },
      { what: "pod default/answers", outcome: "answers", bytes: 1500 },
    ];
    expect(JSON.parse(probed.stdout)).toMatchObject({ pod: "default/asks", network: "default/storage", targets });
    expect(probed.status).toBe(1);
    const silent = plexus("probe", "default/asks", "net1", "10.20.0.250");
    expect([silent.status, silent.stdout]).toEqual([1, expect.stringMatching(/^address +10\.20\.0\.250 +no neighbour has/mu)]);
    expect(plexus("probe", "asks", "fast").stderr).toContain("net1 (default/storage)");
    expect(completed("pro")).toContain("probe");
    expect(completed("probe", "an")).toContain("answers");
    expect(completed("probe", "asks", "")).toContain("default/storage");
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
    [["node/absent", "status"], 1, "no pod of the DaemonSet kube-system/plexus runs on node absent"],
    [["--context", "absent", "web", "status"], 1, "absent"],
    [["probe", "absent", "storage"], 1, 'pods "absent" not found'],
    [["probe", "web"], 2, "probe: give POD and NETWORK after it"],
    [["web"], 2, "web: give a command of plexusctl after it"],
  ])("%j is refused with the reason", (args, status, why) => {
    const result = plexus(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toContain(why);
  });
});
