// A node with a real containerd, whose only CNI plugin is Plexus. Sandboxes are made over the CRI socket, as the kubelet makes them.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { inNamespace, type NamespaceCommands } from "../namespaces.ts";
import type { InstallationInit } from "../plexus.ts";
import { uidOf } from "../manifests.ts";
import { openStage, type Stage } from "../stage.ts";
import { startContainerd, type Containerd } from "./containerd.ts";
import type { Condition, SandboxConfig } from "./cri-client.ts";
import { sandboxImage } from "./sandbox-image.ts";

export interface Sandbox extends NamespaceCommands {
  readonly id: string;
  /** The addresses of PodSandboxStatus, main address first. */
  readonly ips: readonly string[];
}

export interface CriNode {
  readonly stage: Stage;
  readonly containerd: Containerd;
  /** Renames a configuration list of Plexus into the runtime's directory and waits until the runtime has read it. */
  configure(plexus: object, cniVersion?: string): Promise<void>;
  /** Writes a file of the runtime's configuration directory, or removes it without `text`. */
  configurationFile(name: string, text?: string): void;
  /** RunPodSandbox for a pod of the namespace `shop`. */
  run(name: string, more?: Partial<SandboxConfig>): Promise<Sandbox>;
  /** Starts a container in a sandbox of `run`; answers its environment. `devices`: names of devices of CDI specifications. */
  environmentOf(sandbox: Sandbox, podName: string, devices: readonly string[]): Promise<readonly string[]>;
  /** StopPodSandbox and RemovePodSandbox. */
  remove(sandbox: { readonly id: string }): Promise<void>;
  /** The condition NetworkReady of RuntimeStatus. */
  networkReady(): Promise<Condition | undefined>;
  dispose(): Promise<void>;
}

export interface CriNodeInit extends InstallationInit {
  /** True if containerd sets up `lo` itself, as releases since 2.0 can. False: by the reference plugin `loopback`. */
  readonly internalLoopback?: boolean;
}

/** Opens a node. `programPath` is the path of containerd. */
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
  const configOf = (name: string, more: Partial<SandboxConfig>): SandboxConfig => {
    const metadata = { name, uid: uidOf(name), namespace: "shop" };
    return { metadata, hostname: name, linux: { cgroupParent: containerd.cgroupParent }, ...more };
  };
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
      const { podSandboxId: id } = await client.call("RunPodSandbox", { config: configOf(name, more) });
      const { status, info } = await client.call("PodSandboxStatus", { podSandboxId: id, verbose: true });
      const { ip = "", additionalIps = [] } = status.network ?? {};
      const inside = inNamespace(containerd.hostPath(networkNamespace(info["info"] ?? "")));
      return { id, ips: [ip, ...additionalIps.map((each) => each.ip)], ...inside };
    },
    async environmentOf({ id }, podName, devices) {
      const pid = await startContainer(client, id, configOf(podName, {}), devices);
      return readFileSync(containerd.hostPath(`/proc/${pid}/environ`), "utf8").split("\0");
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

/** Starts a container of the pod with these CDI devices; answers its process. */
async function startContainer(
  client: Containerd["client"],
  podSandboxId: string,
  sandboxConfig: SandboxConfig,
  devices: readonly string[],
): Promise<number> {
  const config = {
    metadata: { name: "main" },
    image: { image: sandboxImage },
    CDIDevices: devices.map((name) => ({ name })),
  };
  const { containerId } = await client.call("CreateContainer", { podSandboxId, config, sandboxConfig });
  await client.call("StartContainer", { containerId });
  const { info } = await client.call("ContainerStatus", { containerId, verbose: true });
  return (JSON.parse(info["info"] ?? "") as { readonly pid: number }).pid;
}

/** Polls a condition for half a minute at most. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("containerd did not read its CNI configuration within 60 s");
    await delay(20);
  }
}

interface SandboxInfo {
  readonly runtimeSpec: { readonly linux: { readonly namespaces: readonly { readonly type: string; readonly path?: string }[] } };
}

function isSandboxInfo(value: unknown): value is SandboxInfo {
  return typeof value === "object" && value !== null && "runtimeSpec" in value;
}

/** The path of a sandbox's network namespace, from the verbose info of its status. */
function networkNamespace(info: string): string {
  const parsed: unknown = JSON.parse(info);
  const namespaces = isSandboxInfo(parsed) ? parsed.runtimeSpec.linux.namespaces : [];
  const path = namespaces.find(({ type }) => type === "network")?.path;
  if (path === undefined) throw new Error(`the sandbox has no network namespace: ${info.slice(0, 500)}`);
  return path;
}
