// The jail of sandbox processes inside a real containerd, with exactly the privileges of the chart.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Control } from "../../host/sandbox/launcher/controls.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deletePods, plexusPodOn, startPods } from "../lab/cluster/fault-pods.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { root } from "../lab/compiled.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("the jail in a container", helm, () => missingBuild({ components: ["ipam-host-local"] }));

interface Diagnosis {
  readonly level: string;
  readonly holds: boolean;
  readonly problems: readonly string[];
  readonly daemon: { readonly missing: readonly string[]; readonly ready: boolean };
  readonly controls: readonly {
    readonly name: Control;
    readonly isSetUp: boolean;
    readonly holds: boolean;
    readonly needs: string;
  }[];
}

describe.skipIf(skip)("the jail in the chart's container", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    [node] = cluster.nodes;
  }, 240_000);
  afterAll(async () => cluster?.stop());

  const inDaemon = async (...args: readonly string[]) => {
    const pod = await plexusPodOn(cluster, node.name);
    return cluster.kubectl("-n", "kube-system", "exec", pod, "-c", "plexusd", "--", "/opt/plexus/bin/node", ...args);
  };

  test("a pod's component runs in a process with a uid of its own, a filter and no capability", async () => {
    await startPods(cluster, ["web"]);
    const script = `for each in /proc/[0-9]*; do
      if tr '\\0' ' ' <$each/cmdline 2>/dev/null | grep -q -e guest-process.cjs -e zygote.cjs; then sed -n 's/^\\(Uid\\|CapEff\\|CapPrm\\|NoNewPrivs\\|Seccomp\\):[[:space:]]*/\\1 /p' $each/status | tr '\\t\\n' ' '; echo; fi
    done`;
    const processes = node
      .run(["sh", "-c", script])
      .stdout.split("\n")
      .filter((line) => line.includes(`Uid ${String(defaultUids.first).slice(0, 4)}`));
    process.stdout.write(`${processes.join("\n")}\n`);
    expect(processes.length).toBeGreaterThan(0);
    for (const each of processes)
      expect(each).toMatch(/^Uid (20\d{8}) \1 \1 \1 CapPrm 0{16} CapEff 0{16} NoNewPrivs 1 Seccomp 2 $/);
    const metrics = await inDaemon(
      "--eval",
      "fetch('http://127.0.0.1:9464/metrics').then(async (answer) => process.stdout.write(await answer.text()))",
    );
    expect(metrics.stdout).toMatch(
      /^plexus_step_duration_seconds_count\{[^}]*kind="wasm"[^}]*type="ipam-host-local"[^}]*\} [1-9]/m,
    );
    await deletePods(cluster, ["web"]);
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
  });

  test("FI-28: the daemon has a uid of its own, no group besides and no capability; its launch server alone is root", () => {
    const script = `for each in /proc/[0-9]*; do
      if tr '\\0' ' ' <$each/cmdline 2>/dev/null | grep -q '[/]opt/plexus/plexusd.cjs --socket'; then sed -n 's/^\\(Name\\|Uid\\|Gid\\|Groups\\|CapPrm\\|NoNewPrivs\\):[[:space:]]*/\\1 /p' $each/status | tr '\\t\\n' ' '; echo; fi
    done`;
    const found = node.run(["sh", "-c", script]).stdout.split("\n").filter(Boolean);
    const [daemon = "", server = "", ...waiting] = ["Uid 1999999999 ", "Uid 0 ", "Uid 20"].flatMap((user) =>
      found.filter((line) => line.includes(user)),
    );
    expect(daemon).toMatch(/Uid (1999999999) \1 \1 \1 Gid \1 \1 \1 \1 Groups\s+CapPrm 0{16} NoNewPrivs 1/u);
    expect(server).toMatch(/^Name plexus-launcher Uid (0) \1 \1 \1 .*CapPrm 00000000000000c0 NoNewPrivs 1/u);
    // They wait for sandbox processes, with the user of these.
    for (const each of waiting)
      expect(each).toMatch(/^Name plexus-launcher Uid (20\d{8}) \1 \1 \1 Gid .*CapPrm 0{16} NoNewPrivs 1/u);
    expect(found).toHaveLength(2 + waiting.length);
  });

  test("plexusctl doctor --prove-sandbox succeeds, and the threat model names the reason of each control that is missing", async () => {
    const { status, stdout, stderr } = await inDaemon("/opt/plexus/plexusctl.cjs", "doctor", "--prove-sandbox", "-o", "json");
    expect([status, stderr.replaceAll(/^.*ExperimentalWarning.*\n|^\(Use .*\n/gmu, "")]).toEqual([0, ""]);
    const diagnosis: Diagnosis = JSON.parse(stdout);
    expect(diagnosis).toMatchObject({ level: "process", holds: true, problems: [], daemon: { ready: true } });
    expect(diagnosis.controls.filter(({ isSetUp, holds }) => isSetUp !== holds)).toEqual([]);
    const missing = diagnosis.controls.filter(({ holds }) => !holds).map(({ name }) => name);
    process.stdout.write(`in the chart's container are missing: ${missing.join(", ")}\n`);
    expect(missing.toSorted()).toEqual(diagnosis.daemon.missing.toSorted());
    const model = readFileSync(join(root, "docs", "threat-model.md"), "utf8");
    const [, section = ""] = /^### The jail in the chart's container\n([\s\S]*?)^##/mu.exec(model) ?? [];
    expect(missing.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  });
});
