// A cluster with thick Multus moves to Plexus, and back, by the commands of docs/how-to/replace-multus.md as they stand, with pods that run
// on and pods that come and go.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { everyMultus } from "../lab/multus/multus-binary.ts";
import { root } from "../lab/compiled.ts";
import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { deployMultus, importMultus } from "../lab/cluster/multus.ts";
import { type ClusterNode, linkNames } from "../lab/cluster/node.ts";
import { importPlexus } from "../lab/cluster/plexus-image.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { kubectlBinary } from "../lab/kube/binaries.ts";
import { helm, helmBinary } from "../lab/kube/helm.ts";
import { filesBelow, leases } from "../lab/namespaces.ts";
import { dist, missingBuild } from "../lab/plexus.ts";

/** The links, addresses and state files of pods on the node. */
interface Left {
  readonly links: readonly string[];
  readonly leases: readonly string[];
  /** Multus' state. */
  readonly multus: readonly string[];
}

const networks = ["net-a", "net-b", "net-c"] as const;
const annotation = "k8s.v1.cni.cncf.io/networks";
const skip = missingCluster("moving a cluster from Multus", helm, everyMultus, () => missingBuild({ components: [] }));

const definition = (name: string, index: number): object => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name, namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "1.0.0",
      name,
      plugins: [{ type: "bridge", bridge: `br-${name}`, ipam: { type: "host-local", subnet: `10.2${index}.0.0/24` } }],
    }),
  },
});

/** Ten pods: with one, two and three networks in turn. */
const selections = Array.from({ length: 10 }, (_, index) => networks.slice(0, 1 + (index % networks.length)));

const page = readFileSync(join(root, "docs", "how-to", "replace-multus.md"), "utf8");

/** The page's only command that contains a text. */
function command(part: string): string {
  const found = [...page.matchAll(/`((?:kubectl|helm|plexusctl) [^`]+)`|^((?:kubectl|plexusctl) .+)$/gmu)]
    .map(([, inline, line]) => inline ?? line ?? "")
    .filter((each) => each.includes(part));
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} commands of the page contain ${part}`);
  return only;
}

describe.skipIf(skip)("a cluster with thick Multus", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  let work: string;
  let old: readonly string[];
  let recent: readonly string[];
  /** Leases and state of the old pods, which alone existed. */
  let held: Left;
  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), "plexus-move-"));
    for (const [name, path] of [
      ["helm", helmBinary()],
      ["kubectl", kubectlBinary()],
      ["deploy", join(root, "deploy")],
    ] as const)
      symlinkSync(path ?? "", join(work, name));
    const control = `#!/bin/sh\nexec ${process.execPath} --disable-warning=ExperimentalWarning ${join(dist, "plexusctl.cjs")} "$@"\n`;
    writeFileSync(join(work, "plexusctl"), control, { mode: 0o755 });
    cluster = await startCluster();
    [node] = cluster.nodes;
    node.installNetwork();
    importMultus(cluster.nodes, "v4.3.0");
    importPlexus(cluster.nodes, "0.1.0", "docker.io/library/plexus");
    await cluster.nodesReady();
    await deployMultus(cluster, "v4.3.0").catch(explain);
    await cluster.apply(...networks.map(definition));
    old = await startPods("old");
    held = left();
  }, 360_000);
  afterAll(async () => {
    await cluster?.stop();
    rmSync(work, { recursive: true, force: true });
  });

  const netD = (name: string): string => join(node.disk, "etc", "cni", "net.d", name);
  const explain = async (error: unknown): Promise<never> => {
    const logs = await cluster.kubectl("-n", "kube-system", "logs", "-l", "name=multus", "--all-containers", "--tail=30");
    throw new Error(`${String(error)}\n${await explained(cluster)}\n${logs.stdout}`, { cause: error });
  };

  /** Runs a command of the page in a shell of an administrator, and answers its output. /etc/cni/net.d is the node's. */
  async function run(line: string): Promise<string> {
    const script = line.replaceAll("/etc/cni/net.d", netD(""));
    const env = { PATH: `${work}:${process.env["PATH"]}`, HOME: work, KUBECONFIG: cluster.kubeconfig };
    const shell = spawn("sh", ["-e", "-c", script], { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, [status]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, "exit")]);
    if (status !== 0) await explain(`${line}: status ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  async function startPods(prefix: string): Promise<readonly string[]> {
    const names = selections.map((_, index) => `${prefix}-${index}`);
    const pods = selections.map((selected, index) =>
      toolsPod(`${prefix}-${index}`, {
        annotations: { [annotation]: selected.join(",") },
        spec: { terminationGracePeriodSeconds: 1 },
      }),
    );
    await cluster.apply(...pods);
    const ready = names.map((name) => `pod/${name}`);
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", ...ready).catch(explain);
    for (const [index, name] of names.entries()) await expectNetworks(name, selections[index] ?? []);
    return names;
  }

  /** The pod has its interfaces, and its status names their networks. */
  async function expectNetworks(name: string, selected: readonly string[]): Promise<void> {
    const links = await cluster.succeed("exec", name, "--", "ls", "/sys/class/net");
    const path = "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/network-status}";
    const status: readonly { readonly name: string; readonly interface: string }[] = JSON.parse(
      (await cluster.succeed("get", "pod", name, "-o", path)) || "[]",
    );
    const interfaces = ["eth0", ...selected.map((_, index) => `net${index + 1}`)];
    expect({ name, links: links.trim().split(/\s+/).toSorted(), status: status.map((each) => each.interface) }).toEqual({
      name,
      links: [...interfaces, "lo"].toSorted(),
      status: interfaces,
    });
    expect(status.slice(1).map((each) => each.name)).toEqual(selected.map((each) => `default/${each}`));
  }

  /** The fields that differ once a pod has been restarted. */
  const lives = async (names: readonly string[]): Promise<readonly string[]> => {
    const form =
      "{.metadata.uid} {.status.podIP} {.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].containerID}";
    return Promise.all(names.map((name) => cluster.succeed("get", "pod", name, "-o", `jsonpath=${form}`)));
  };

  /** Messages of failed sandboxes of pods whose names begin so. */
  const failures = async (prefix: string): Promise<readonly string[]> => {
    const { items } = await cluster.core.listEventForAllNamespaces({ fieldSelector: "reason=FailedCreatePodSandBox" });
    return items.flatMap(({ involvedObject, message = "" }) =>
      involvedObject.name?.startsWith(prefix) === true ? [message] : [],
    );
  };

  /** Waits until a namespace has no pod with this label, or without a label no pod at all. */
  const untilGone = async (namespace: string, ...label: readonly string[]): Promise<void> => {
    const pods = (): Promise<string> => cluster.succeed("-n", namespace, "get", "pods", "-o", "name", ...label);
    await expect.poll(pods, { timeout: 90_000, interval: 500 }).toBe("");
  };

  /** Pods come and go while `change` runs. Answers how many. */
  async function under(prefix: string, change: () => Promise<void>): Promise<number> {
    const state = { changed: false, count: 0 };
    const changing = change().finally(() => {
      state.changed = true;
    });
    const worker = async (): Promise<void> => {
      while (!state.changed) {
        const name = `${prefix}-${state.count++}`;
        const annotations = { [annotation]: "net-a" };
        await cluster.apply(toolsPod(name, { annotations, spec: { terminationGracePeriodSeconds: 1 } }));
        await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`).catch(explain);
        await expectNetworks(name, ["net-a"]);
        await cluster.succeed("delete", `pod/${name}`, "--timeout=120s");
      }
    };
    await Promise.all([changing, worker(), worker()]);
    return state.count;
  }

  /** Links and leases of pods, and state by container; bridges stay on purpose. */
  const left = (): Left => ({
    links: linkNames(node).filter((name) => name.startsWith("veth")),
    leases: leases(join(node.disk, "var", "lib", "cni", "networks")),
    multus: filesBelow(join(node.disk, "var", "lib", "cni", "multus")),
  });
  const remove = async (names: readonly string[]): Promise<void> =>
    void (await cluster.succeed("delete", "pods", ...names, "--timeout=120s"));

  test("is translated, and the check finds no difference with the cluster's API", async () => {
    await run(command("multus-daemon-config -o yaml"));
    expect(readFileSync(join(work, "values.yaml"), "utf8")).toContain("configName: 00-multus-plexus.conflist");
    const checked = await run(command("--check --kubeconfig"));
    expect(checked).toBe("3 definitions and 10 pods with networks: 0 differences\n");
  }, 240_000);

  test("moves to Plexus by the page's steps: no pod is restarted, none fails, and Multus goes", async () => {
    const before = await lives(old);
    const count = await under("moving", async () => {
      await run(command("helm install plexus"));
      await run(command("delete daemonset kube-multus-ds"));
      await untilGone("kube-system", "-l", "name=multus");
    });
    process.stdout.write(`moving to Plexus: ${count} pods came and went\n`);
    expect(readdirSync(netD("")).filter((name) => name.startsWith("00-"))).toEqual(["00-multus-plexus.conflist"]);
    expect((await failures("moving-")).join("\n")).toBe("");
    expect(await lives(old)).toEqual(before);
    for (const [index, name] of old.entries()) await expectNetworks(name, selections[index] ?? []);
  }, 300_000);

  test("pods that Multus attached leave nothing, and new pods get the same interfaces", async () => {
    // Ten addresses of the default network, and 1 + 2 + 3 in turn of the others.
    expect(held.leases).toHaveLength(10 + 19);
    await remove(old);
    // Multus itself left addresses of the default network, of pods that came and went before the switch.
    const leftOfOld = (): Left => {
      const { links, leases: now, multus } = left();
      return {
        links,
        leases: now.filter((path) => held.leases.includes(path)),
        multus: multus.filter((path) => held.multus.includes(path)),
      };
    };
    await expect.poll(leftOfOld).toEqual({ links: [], leases: [], multus: [] });
    recent = await startPods("recent");
  }, 240_000);

  test("goes back to Multus: no pod is restarted, none fails, and further networks of Plexus' pods are detached", async () => {
    const before = await lives(recent);
    const count = await under("returning", async () => {
      await deployMultus(cluster, "v4.3.0");
      await run(command("delete daemonset plexus"));
      await expect.poll(() => existsSync(netD("00-multus-plexus.conflist"))).toBe(false);
      await untilGone("plexus");
      await run(command("--no-hooks"));
    });
    process.stdout.write(`going back to Multus: ${count} pods came and went\n`);
    expect((await failures("returning-")).join("\n")).toBe("");
    expect(await lives(recent)).toEqual(before);
    await remove(recent);
    // The page says what thick Multus leaves: addresses of the default network.
    const further = (): object => ({ ...left(), multus: [], leases: left().leases.filter((path) => !path.startsWith("pods/")) });
    await expect.poll(further).toEqual({ links: [], leases: [], multus: [] });
    process.stdout.write(`left by Multus of the default network: ${left().leases.length} addresses\n`);
  }, 300_000);
});
