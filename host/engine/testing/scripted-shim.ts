// For tests: a shim without a process. A script decides the end of each plugin, and every effect is recorded in order.

import { fault } from "../../../src/fault/fault.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { Content, Done, Executed, Found, Outcome } from "../../protocol/messages.ts";
import { type ExecEffect, type FindEffect, type NetlinkEffect, type Shim, ShimGone } from "../../protocol/shim.ts";

/** One call of a native plugin, read from its environment and stdin. */
export interface PluginCall {
  readonly type: string;
  readonly verb: string;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly args: string;
  readonly stdin: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly effect: ExecEffect;
}

/** The end of a plugin. The default is exit status 0 without output. */
export interface PluginEnd {
  readonly outcome?: Outcome;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Decides the end of one call of a plugin. */
export type PluginScript = (call: PluginCall) => PluginEnd | Promise<PluginEnd>;

const ENOENT = 2;

/** The end of a plugin that prints an error object and exits with status 1. */
export function failing(code: number, msg: string): PluginScript {
  return () => ({ outcome: { kind: "exited", status: 1 }, stdout: JSON.stringify({ cniVersion: "1.1.0", code, msg }) });
}

/** Fails as an effect of a shim that was killed. */
export function gone(): never {
  throw new ShimGone(fault("SHIM_GONE", "the shim has ended"));
}

/** Answers ADD with the previous result, or with one link in the pod and one address. */
export function attaching(address: string): PluginScript {
  return ({ verb, ifname, netns, configuration }) => {
    if (verb !== "ADD") return {};
    const { cniVersion, prevResult } = configuration;
    const links = [
      { name: `host-${ifname}`, mac: "02:00:00:00:00:01" },
      { name: ifname, sandbox: netns },
    ];
    const result = prevResult ?? { cniVersion, interfaces: links, ips: [{ address, interface: 1 }] };
    return { stdout: JSON.stringify(result) };
  };
}

/** A shim whose plugins are scripts. */
export class ScriptedShim implements Shim {
  /** The effects, one line each: `find TYPE`, `VERB TYPE IFNAME`, `netlink PATH`. */
  readonly log: string[];
  /** Calls of plugins, in order. */
  readonly calls: PluginCall[] = [];
  /** Paths of the network namespaces that exist. */
  readonly namespaces = new Set<string>();
  /** Answers NETLINK. By default, NETLINK succeeds in each of `namespaces` and fails with ENOENT elsewhere. */
  netlinkScript: ((effect: NetlinkEffect) => Done) | undefined;
  readonly #plugins = new Map<string, Map<string, PluginScript>>();
  #gone = false;

  /** `log` receives the lines of the effects. Other recorders may share it. */
  constructor(log: string[] = []) {
    this.log = log;
  }

  /** Installs a plugin with one script for every verb; replaces all earlier scripts of the type. */
  install(type: string, script: PluginScript): void {
    this.#plugins.set(type, new Map([["", script]]));
  }

  /** Gives an installed plugin a script for one verb. */
  on(type: string, verb: string, script: PluginScript): void {
    this.#plugins.get(type)?.set(verb, script);
  }

  /** Removes the script that `on` set for this verb. */
  removeScript(type: string, verb: string): void {
    this.#plugins.get(type)?.delete(verb);
  }

  uninstall(type: string): void {
    this.#plugins.delete(type);
  }

  /** Kills the shim: each later effect throws ShimGone. */
  kill(): void {
    this.#gone = true;
  }

  async exec(effect: ExecEffect): Promise<Executed> {
    this.ensureConnected();
    const call = callOf(effect);
    this.calls.push(call);
    this.log.push(`${call.verb} ${call.type} ${call.ifname}`.trimEnd());
    const scripts = this.#plugins.get(effect.type);
    const script = scripts?.get(call.verb) ?? scripts?.get("");
    const {
      outcome,
      stdout = "",
      stderr = "",
    } = script === undefined ? { outcome: { kind: "not-found" } as const } : await script(call);
    return {
      kind: "executed",
      outcome: outcome ?? { kind: "exited", status: 0 },
      microseconds: 1,
      stdoutTruncated: false,
      stderrTruncated: false,
      stdout: Buffer.from(stdout),
      stderr: Buffer.from(stderr),
      path: script === undefined ? "" : `/opt/cni/bin/${effect.type}`,
    };
  }

  async find({ type }: FindEffect): Promise<Found> {
    this.ensureConnected();
    this.log.push(`find ${type}`);
    if (!this.#plugins.has(type)) return { kind: "found", what: "nothing", path: "", identity: "" };
    return { kind: "found", what: "native", path: `/opt/cni/bin/${type}`, identity: "1:2:3:4" };
  }

  async read(): Promise<Content> {
    return { kind: "content", errno: ENOENT, content: new Uint8Array() };
  }

  async netlink(effect: NetlinkEffect): Promise<Done> {
    this.ensureConnected();
    this.log.push(`netlink ${effect.path}`);
    if (this.netlinkScript !== undefined) return this.netlinkScript(effect);
    return this.namespaces.has(effect.path) ? done(0) : done(ENOENT);
  }

  async sysctl(): Promise<Done> {
    return done(ENOENT);
  }

  async packet(): Promise<Done> {
    return done(ENOENT);
  }

  async tap(): Promise<Done> {
    return done(ENOENT);
  }

  async ask(): Promise<Done> {
    return done(ENOENT);
  }

  async changes(): Promise<Done> {
    return done(ENOENT);
  }

  async zone(): Promise<Done> {
    return done(ENOENT);
  }

  ensureConnected(): void {
    if (this.#gone) gone();
  }
}

/** The answer to an effect of type NETLINK. It counts as sent if the errno is 0. */
export function done(errno: number, reply: Uint8Array = new Uint8Array()): Done {
  return { kind: "done", errno, sent: errno === 0, reply };
}

function callOf(effect: ExecEffect): PluginCall {
  const { type, environment } = effect;
  const stdin = Buffer.from(effect.stdin).toString("utf8");
  const parsed: unknown = JSON.parse(stdin === "" ? "{}" : stdin);
  const value = (name: string): string => environment.get(name) ?? "";
  return {
    type,
    verb: value("CNI_COMMAND"),
    containerId: value("CNI_CONTAINERID"),
    netns: value("CNI_NETNS"),
    ifname: value("CNI_IFNAME"),
    args: value("CNI_ARGS"),
    stdin,
    configuration: isJsonObject(parsed) ? parsed : {},
    effect,
  };
}
