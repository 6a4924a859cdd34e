// A daemon that writes its configuration into a runtime's directory, and a runtime that reads it there.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../src/json/document.ts";
import { startDaemon, type TestDaemon } from "./daemon.ts";
import { httpRequest } from "./http-request.ts";
import type { Answer } from "./plexus.ts";
import type { Stage } from "./stage.ts";

/** The written list. */
interface WrittenList {
  readonly name: string;
  readonly cniVersion: string;
  readonly cniVersions?: readonly string[];
  readonly plugins: readonly Readonly<Record<string, unknown>>[];
}

/** The directories of one stage, and the daemon that runs there. */
export class ConfigurationDaemon {
  readonly #stage: Stage;
  #daemon: TestDaemon | undefined;
  #log = "";

  constructor(stage: Stage, more: object = {}) {
    this.#stage = stage;
    for (const directory of [this.directory, join(stage.plexus.directory, "template")]) mkdirSync(directory);
    const { name: _name, cniVersion: _version, ...plugin } = { name: "", cniVersion: "", ...stage.host(more) };
    writeFileSync(this.#template, JSON.stringify(plugin));
  }

  /** The runtime's directory of network configurations. */
  get directory(): string {
    return join(this.#stage.plexus.directory, "net.d");
  }

  /** The directory of plugins. */
  get binDir(): string {
    return this.#stage.plexus.cniPath;
  }

  /** Path of the daemon's file. */
  get written(): string {
    return join(this.directory, "00-plexus.conflist");
  }

  get #template(): string {
    return join(this.#stage.plexus.directory, "template", "config.json");
  }

  get #socket(): string {
    return join(this.#stage.plexus.directory, "daemon", "plexus.sock");
  }

  /** Writes a network of plugins of these types. */
  put(name: string, ...types: readonly string[]): void {
    const list = { cniVersion: "1.0.0", name: types[0], plugins: types.map((type) => ({ type })) };
    writeFileSync(join(this.directory, name), JSON.stringify(list));
  }

  start(...args: readonly string[]): Promise<void> {
    return this.#start({}, args);
  }

  /** Starts the daemon as the container of a DaemonSet's pod that reaches no API server. */
  startInPod(): Promise<void> {
    return this.#start({ POD_NAMESPACE: "kube-system", POD_NAME: "plexus-1", DAEMONSET: "plexus" }, []);
  }

  /** The daemon's exit status, once it has ended by itself. */
  async ended(): Promise<unknown> {
    const ended = await this.#daemon?.ended;
    const log = this.stderr();
    this.#daemon = undefined;
    this.#log = log;
    return Array.isArray(ended) ? ended[0] : undefined;
  }

  async #start(env: Readonly<Record<string, string>>, args: readonly string[]): Promise<void> {
    const own = ["--cni-config-dir", this.directory, "--cni-config", this.#template, "--cni-bin-dir", this.binDir];
    this.#daemon = await startDaemon({
      socket: this.#socket,
      env,
      args: ["--state-dir", this.#stage.plexus.state("cni"), ...own, ...args],
    });
  }

  async stop(): Promise<void> {
    await this.#daemon?.stop();
    this.#daemon = undefined;
  }

  stderr(): string {
    return this.#daemon?.stderr() ?? this.#log;
  }

  async page(path: string): Promise<{ readonly status: number; readonly body: string }> {
    const socket = join(this.#stage.plexus.directory, "daemon", "status.sock");
    return httpRequest(socket, path).catch(() => ({ status: 0, body: "" }));
  }

  list(): WrittenList {
    const list: WrittenList = JSON.parse(readFileSync(this.written, "utf8"));
    return list;
  }

  types(): readonly unknown[] {
    return this.list().plugins.map(({ type }) => type);
  }

  /** A runtime's call of Plexus with the written configuration; no one-shot engine can answer. */
  call(verb: string, containerId: string, netns: string, more: object = {}): Promise<Answer> {
    const { name, cniVersion, cniVersions, plugins } = this.list();
    const config = { ...plugins[0], ...more, name, cniVersion: cniVersions?.at(-1) ?? cniVersion };
    const env = { PLEXUS_SOCKET: this.#socket, PLEXUS_HOME: "/nowhere" };
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${containerId}`;
    return this.#stage.request({ verb, containerId, netns, ifname: "eth0", config, args, env });
  }

  /** A runtime's ADD of the whole list: Plexus, then the further steps with its result. Answers the status of each. */
  async addList(containerId: string, netns: string): Promise<readonly (number | null)[]> {
    const { name, plugins } = this.list();
    const first = await this.call("ADD", containerId, netns);
    const prevResult: unknown = JSON.parse(first.stdout);
    if (!isJsonObject(prevResult)) throw new Error(`the ADD of ${containerId} answers no result`);
    const env = { CNI_COMMAND: "ADD", CNI_CONTAINERID: containerId, CNI_NETNS: netns, CNI_IFNAME: "eth0", CNI_PATH: this.binDir };
    const further = plugins.slice(1).map((plugin) => {
      const input = JSON.stringify({ ...plugin, name, cniVersion: prevResult["cniVersion"], prevResult });
      return spawnSync(join(this.binDir, String(plugin["type"])), { env, input }).status;
    });
    return [first.status, ...further];
  }
}
