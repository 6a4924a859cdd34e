// A node whose container runtime is a real one, with Plexus as its only CNI plugin: containerd, a directory of CNI configurations,
// and sandboxes that are asked for over the CRI socket as the kubelet asks.

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { insideOf, type Inside } from "../../harness/namespaces.ts";
import type { InstallationInit } from "../../harness/plexus.ts";
import { uidOf } from "../manifests.ts";
import { openStage, type Stage } from "../stage.ts";
import { startContainerd, type Containerd } from "./containerd.ts";
import type { Condition, SandboxConfig } from "./cri-client.ts";

export interface Sandbox extends Inside {
  readonly id: string;
  /** What PodSandboxStatus tells, the main address first. */
  readonly ips: readonly string[];
}

export interface CriNode {
  readonly stage: Stage;
  readonly containerd: Containerd;
  /** Makes Plexus' configuration the runtime's: a list, put there whole, as an administrator should. Waits until it is read. */
  configure(plexus: object, cniVersion?: string): Promise<void>;
  /** Writes a file of that directory just so; without text it goes. */
  configurationFile(name: string, text?: string): void;
  /** RunPodSandbox for a pod of the namespace `shop`. */
  run(name: string, more?: Partial<SandboxConfig>): Promise<Sandbox>;
  /** StopPodSandbox and RemovePodSandbox. */
  remove(sandbox: { readonly id: string }): Promise<void>;
  /** The condition NetworkReady of RuntimeStatus. */
  networkReady(): Promise<Condition | undefined>;
  dispose(): Promise<void>;
}

export interface CriNodeInit extends InstallationInit {
  /** True: containerd sets up loopbacks itself, which it can since 2.0; else by the reference plugin of that name. */
  readonly internalLoopback?: boolean;
}

/** Opens a node. `program`: the containerd. */
export async function openCriNode(programPath: string, init: CriNodeInit): Promise<CriNode> {
  const { internalLoopback = false, ...installed } = init;
  const loopback = internalLoopback ? [] : ["loopback"];
  const stage = openStage({ ...installed, native: [...loopback, ...(installed.native ?? [])] });
  const cniConfDirectory = join(stage.plexus.directory, "net.d");
  mkdirSync(cniConfDirectory);
  let containerd: Containerd;
  try {
    const { node, plexus } = stage;
    containerd = await startContainerd({
      program: programPath,
      node,
      cniBinDirectory: plexus.cniPath,
      cniConfDirectory,
      internalLoopback,
    });
  } catch (error) {
    stage.dispose();
    throw error;
  }
  const { client } = containerd;
  const configurationFile = (name: string, text?: string): void => {
    const path = join(cniConfDirectory, name);
    if (text === undefined) return rmSync(path);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  return {
    stage,
    containerd,
    configurationFile,
    async configure(plexus, cniVersion = "1.0.0") {
      const text = JSON.stringify({ cniVersion, name: "cluster", plugins: [plexus] });
      configurationFile("10-plexus.conflist", text);
      await until(async () => {
        const { info } = await client.call("Status", { verbose: true });
        return (info["cniconfig"] ?? "").includes(JSON.stringify(text));
      });
    },
    async run(name, more = {}) {
      const metadata = { name, uid: uidOf(name), namespace: "shop" };
      const linux = { cgroupParent: containerd.cgroupParent };
      const { podSandboxId: id } = await client.call("RunPodSandbox", { config: { metadata, hostname: name, linux, ...more } });
      const { status, info } = await client.call("PodSandboxStatus", { podSandboxId: id, verbose: true });
      const { ip = "", additionalIps = [] } = status.network ?? {};
      const inside = insideOf(containerd.outside(networkNamespace(info["info"] ?? "")));
      return { id, ips: [ip, ...additionalIps.map((each) => each.ip)], ...inside };
    },
    async remove({ id }) {
      await client.call("StopPodSandbox", { podSandboxId: id });
      await client.call("RemovePodSandbox", { podSandboxId: id });
    },
    async networkReady() {
      const { status } = await client.call("Status", { verbose: false });
      return status.conditions.find((condition) => condition.type === "NetworkReady");
    },
    async dispose() {
      await containerd.stop();
      stage.dispose();
    },
  };
}

/** Waits, half a minute at most. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("containerd didn't read its CNI configuration");
    await delay(20);
  }
}

interface SandboxInfo {
  readonly runtimeSpec: { readonly linux: { readonly namespaces: readonly { readonly type: string; readonly path?: string }[] } };
}

function isSandboxInfo(value: unknown): value is SandboxInfo {
  return typeof value === "object" && value !== null && "runtimeSpec" in value;
}

/** The path of a sandbox's network namespace, from the verbose part of its status. */
function networkNamespace(info: string): string {
  const parsed: unknown = JSON.parse(info);
  const namespaces = isSandboxInfo(parsed) ? parsed.runtimeSpec.linux.namespaces : [];
  const path = namespaces.find(({ type }) => type === "network")?.path;
  if (path === undefined) throw new Error(`the sandbox has no network namespace: ${info.slice(0, 500)}`);
  return path;
}
