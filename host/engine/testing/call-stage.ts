// For tests: serves whole calls of a runtime without a cluster or a kernel. A scripted shim stands for plugins and kernel. The engine,
// journal, cache, locks and manifests are the real ones, in a temporary directory.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifestsIn, type Manifests } from "../../../test/lab/manifests.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { openCluster } from "../../cluster/open-cluster.ts";
import type { FileWriter, OpenFile } from "../../store/files/file-writer.ts";
import { backgroundWriter } from "../../store/files/background-writer.ts";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import type { FileLock, LockRequest, TakeLock } from "../../store/locks/file-lock.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import { bootId } from "../../system/boot-id.ts";
import { CallEvents } from "../events/call-events.ts";
import type { Node } from "../node.ts";
import type { SessionParts } from "../session/open-call.ts";
import { serveCall } from "../session/serve-call.ts";
import { ScriptedShim } from "./scripted-shim.ts";
import { systemClock } from "../../system/clock.ts";

/** One call of the runtime. */
export interface StagedCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "VERSION";
  readonly containerId?: string;
  readonly ifname?: string;
  readonly netns?: string;
  readonly args?: string;
  /** Members that this call adds to the stage's configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Milliseconds that the call waited in the queue. */
  readonly waitedMs?: number;
}

/** The reply of one call, with its warnings and effects. */
export interface StagedAnswer {
  readonly status: number;
  readonly stdout: string;
  /** stdout as a JSON object; an empty object if stdout is none. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  /** The effects and writes of this call, in order. */
  readonly log: readonly string[];
}

/** Whether the write with this line in the log is to fail. */
export type WriteFailure = (line: string) => boolean;

/** A node for tests: its state directory, its plugins and its manifests. */
export class CallStage {
  readonly directory: string;
  readonly stateDirectory: string;
  readonly shim: ScriptedShim;
  readonly manifests: Manifests;
  /** The default network's plugins, then those of each further inline delegate. */
  delegates: readonly object[] = [];
  /** Members of every call's configuration. */
  config: Readonly<Record<string, unknown>> = {};
  writeFails: WriteFailure = () => false;
  /** Milliseconds that the stage's clocks are ahead of the real ones. */
  aheadMs = 0;
  /** The start of the stage's process: by default before every entry. */
  startedAt = new Date(0);
  readonly #log: string[] = [];
  readonly #held: FileLock[] = [];

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "plexus-stage-"));
    this.stateDirectory = join(this.directory, "state");
    this.shim = new ScriptedShim(this.#log);
    this.shim.namespaces.add("/run/netns/a");
    this.manifests = manifestsIn(join(this.directory, "manifests"));
  }

  dispose(): void {
    for (const lock of this.#held.splice(0)) lock.release();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Serves one call and returns its reply. */
  async call(call: StagedCall): Promise<StagedAnswer> {
    const warnings: string[] = [];
    const from = this.#log.length;
    const { verb, containerId = "c1", ifname = "eth0", netns = "/run/netns/a", args = "", waitedMs = 0 } = call;
    const attachment =
      verb === "GC" || verb === "STATUS" || verb === "VERSION"
        ? []
        : ([
            ["CNI_CONTAINERID", containerId],
            ["CNI_NETNS", netns],
            ["CNI_IFNAME", ifname],
            ["CNI_ARGS", args],
          ] as const);
    const environment = new Map([["CNI_COMMAND", verb], ["CNI_PATH", "/opt/cni/bin"], ...attachment]);
    const stdin = Buffer.from(JSON.stringify(this.configuration(call.config)));
    const request = { kind: "request", name: "plexus", environment, stdin, under: 0 } as const;
    const served = { configured: () => {}, opened: () => undefined, failed: () => {} };
    const reply = await serveCall(request, this.#parts(warnings), served, waitedMs);
    const stdout = typeof reply.stdout === "string" ? reply.stdout : Buffer.from(reply.stdout).toString("utf8");
    return { status: reply.status, stdout, json: objectOf(stdout), warnings, log: this.#log.slice(from) };
  }

  /** Serves one call that must succeed. */
  async succeed(call: StagedCall): Promise<StagedAnswer> {
    const answer = await this.call(call);
    if (answer.status !== 0) throw new Error(`${call.verb} failed: ${answer.stdout}`);
    return answer;
  }

  configuration(more: StagedCall["config"] = {}): Readonly<Record<string, unknown>> {
    return {
      cniVersion: "1.1.0",
      name: "cluster",
      type: "plexus",
      cniDir: this.stateDirectory,
      // These tests are about other parts: test/hostile/attacker/definition-author.long.test.ts is about the policy.
      definitions: { trusted: ["*"] },
      multusCniDir: this.stateDirectory,
      confDir: join(this.directory, "net.d"),
      runDir: join(this.directory, "run"),
      delegates: this.delegates,
      ...this.config,
      ...more,
    };
  }

  /** The paths of the files in the state directory, without the lock file. */
  stateFiles(): readonly string[] {
    if (!existsSync(this.stateDirectory)) return [];
    const names = readdirSync(this.stateDirectory, { recursive: true, withFileTypes: true });
    return names
      .filter((entry) => entry.isFile() && entry.name !== "calls.lock")
      .map((entry) => join(entry.parentPath, entry.name).slice(this.stateDirectory.length + 1))
      .toSorted();
  }

  /** The lines of a journal entry, as objects. */
  entry(containerId = "c1", directory = "journal/"): readonly Readonly<Record<string, unknown>>[] {
    const text = readFileSync(join(this.stateDirectory, `${directory}${containerId}@cluster@eth0`), "utf8");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map(objectOf);
  }

  /** Changes the text of a file in the state directory, and creates a missing file. */
  edit(name: string, change: (text: string) => string): void {
    const path = join(this.stateDirectory, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, change(existsSync(path) ? readFileSync(path, "utf8") : ""));
  }

  /** Takes a lock as another call would, until `releaseLocks`. */
  holdLock(request: Omit<LockRequest, "path" | "deadlineMs">): void {
    mkdirSync(this.stateDirectory, { recursive: true });
    const { lock } = lockSync({ ...request, path: join(this.stateDirectory, "calls.lock"), deadlineMs: 0 });
    if (lock === undefined) throw new Error("the lock is held already");
    this.#held.push(lock);
  }

  releaseLocks(): void {
    for (const lock of this.#held.splice(0)) lock.release();
  }

  /** The node of the stage's calls. */
  node(): Node {
    return {
      clock: { now: () => this.aheadMs, date: () => new Date(Date.now() + this.aheadMs) },
      startedAt: this.startedAt,
      bootId: bootId(),
      recorders: [],
      takeLock: () => this.takeLock,
      writer: this.#writer(),
      features: [],
      openCluster: (configuration, warn) => openCluster(configuration, warn, systemClock),
      openDelegates: async () => noDelegates,
    };
  }

  takeLock: TakeLock = async (request) => lockSync(request);

  #parts(warnings: string[]): SessionParts {
    const events = new CallEvents();
    events.subscribe({ receive: (event) => void (event.what === "warned" && warnings.push(event.text)) });
    return {
      node: this.node(),
      shim: this.shim,
      events,
      delegates: noDelegates,
      cluster: (configuration) => openCluster(configuration, (text) => events.warn(text), systemClock),
      output: () => {},
    };
  }

  /** The real writer, with each write recorded. A write for which `writeFails` is true fails with ENOSPC. */
  #writer(): FileWriter {
    const refuse = (line: string) => {
      this.#log.push(line);
      return this.writeFails(line) ? failed(fault("STORE_FAILED", `${line}: ENOSPC: no space left on device`)) : undefined;
    };
    const nameOf = (path: string): string => path.slice(this.stateDirectory.length + 1);
    const writer = backgroundWriter();
    return {
      replace: async (path, content, rules) => {
        const name = nameOf(path);
        const refused = refuse(`write ${name}`);
        if (refused !== undefined) return refused;
        const written = await writer.replace(path, content, rules);
        // Synced at once, so that the later steps of a call have one order.
        if (written.ok && rules.durable) await written.value.sync();
        return written.ok ? ok(recorded(written.value, name, refuse)) : written;
      },
      remove: async (path) => refuse(`remove ${nameOf(path)}`) ?? writer.remove(path),
    };
  }
}

const noComponents = fault("COMPONENT_REFUSED", "this stage has no components");
const noDelegates: DelegateRunner = {
  run: async () => ({ ok: false, fault: noComponents }),
  admit: async () => failed(noComponents),
};

function recorded(file: OpenFile, name: string, refuse: (line: string) => ReturnType<typeof failed> | undefined): OpenFile {
  let synced = false;
  return {
    sync: async () => {
      if (synced) return ok(undefined);
      synced = true;
      return refuse(`sync ${name}`) ?? file.sync();
    },
    append: async (lines) => refuse(`append ${Object.entries(objectOf(lines))[0]?.slice(0, 2).join(" ")}`) ?? file.append(lines),
    close: () => file.close(),
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
