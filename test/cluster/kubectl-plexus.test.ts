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
    symlinkSync(join(dist, "kubectl-plexus.cjs"), join(directory, "bin/kubectl-plexus"));
    cluster = await clusterWithPlexus();
    await cluster.apply(toolsPod("web"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/web");
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
    [["web"], 2, "web: give a command of plexusctl after it"],
  ])("%j is refused with the reason", (args, status, why) => {
    const result = plexus(...args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toContain(why);
  });
});
