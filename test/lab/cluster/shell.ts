// `npm run cluster [-- [--nodes N] [--plexus] [COMMAND [ARGUMENT…]]]`: a cluster with a default network and a shell, or a command, whose
// KUBECONFIG has all rights. The end of the shell ends every process of the cluster. `--plexus` installs Plexus by hand on each node. Without it the
// nodes have the image of the build under the chart's own name, so that the commands of README.md and docs/ work as they stand.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { parse } from "yaml";

import { root } from "../compiled.ts";
import { sandboxImageTar } from "../containerd/sandbox-image.ts";
import { kubectlBinary } from "../kube/binaries.ts";
import { helmBinary } from "../kube/helm.ts";
import { installByHand } from "./by-hand.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { toolsImage } from "./images.ts";
import { maxNodes } from "./network.ts";
import { importPlexus } from "./plexus-image.ts";
import { missingCluster } from "./requirements.ts";

const usage = `usage: npm run cluster -- [--nodes 1..${maxNodes}] [--plexus] [COMMAND [ARGUMENT…]]`;
const all = process.argv.slice(2);
// The command's own options begin with a dash, too.
const first = all.findIndex((each, index) => !each.startsWith("-") && all[index - 1] !== "--nodes");
const commandWords = first === -1 ? [] : all.slice(first);
const { values } = parseArgs({
  args: first === -1 ? all : all.slice(0, first),
  options: { nodes: { type: "string", default: "1" }, plexus: { type: "boolean", default: false } },
});
const count = Number(values.nodes);
if (!Number.isInteger(count) || count < 1 || count > maxNodes) {
  process.stderr.write(`--nodes is ${values.nodes}\n${usage}\n`);
  process.exit(2);
}
if (missingCluster("a cluster")) process.exit(3);

/** The images that the pages' commands name: Plexus' own, as the chart names it by default, and that of the example's pod. */
function importNamedImages(nodes: Cluster["nodes"]): void {
  const chart = parse(readFileSync(join(root, "deploy", "helm", "plexus", "Chart.yaml"), "utf8"));
  importPlexus(nodes, String(chart.appVersion), "docker.io/library/plexus");
  const [, pause] = /image: (\S+)/u.exec(readFileSync(join(root, "deploy", "example.yaml"), "utf8")) ?? [];
  for (const node of nodes) node.importImage(sandboxImageTar(pause));
}

// The terminal sends Ctrl-C to the shell as well, which decides what it means.
process.on("SIGINT", () => {});
const say = (text: string): void => void process.stderr.write(`plexus: ${text}\n`);
const started = performance.now();
say("starting a cluster");
const cluster = await startCluster({ nodes: count });
const programs = mkdtempSync(join(tmpdir(), "plexus-programs-"));
try {
  for (const node of cluster.nodes) node.installNetwork();
  if (!values.plexus) importNamedImages(cluster.nodes);
  await cluster.nodesReady();
  if (values.plexus) for (const node of cluster.nodes) await installByHand(cluster, node);
  const found = [["kubectl", kubectlBinary()] as const, ["helm", helmBinary()] as const];
  for (const [name, path] of found) if (path !== undefined) symlinkSync(path, join(programs, name));
  const [node] = cluster.nodes;
  say(`the cluster is ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  if (commandWords.length === 0) {
    say(`KUBECONFIG=${cluster.kubeconfig}; kubectl and helm are on PATH; pods can have the image ${toolsImage}`);
    say(`/etc, /opt and /var of ${node.name}: ${node.disk}; the end of this shell (Ctrl-D) ends the cluster`);
  }
  const [command = process.env["SHELL"] ?? "sh", ...args] = commandWords;
  process.exitCode = await new Promise<number>((resolve) => {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, PATH: `${programs}:${process.env["PATH"] ?? ""}` };
    const child = spawn("setpriv", ["--pdeathsig", "HUP", "--", command, ...args], { stdio: "inherit", env });
    child.once("error", (error) => {
      say(`${command}: ${error.message}`);
      resolve(127);
    });
    child.once("close", (status) => resolve(status ?? 1));
  });
} finally {
  await cluster.stop();
  rmSync(programs, { recursive: true, force: true });
}
