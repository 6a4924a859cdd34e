// A real Open vSwitch for one test file: ovsdb-server, and ovs-vswitchd with dummy devices, so that neither a kernel module nor a privilege is needed.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, lastLines, startChild } from "../kube/child.ts";
import { missingNeutron, neutronEnvironment, neutronRoot } from "./packages.ts";

/** The running switch. */
export interface OpenVswitch {
  /** OVSDB's socket. */
  readonly socket: string;
  readonly directory: string;
  /** Runs ovs-vsctl without waiting for ovs-vswitchd, and answers its output. Throws with its stderr. */
  readonly vsctl: (...args: readonly string[]) => string;
  /** Starts ovs-vswitchd. Bridges need `datapath_type=dummy`. */
  readonly startVswitchd: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** The reason why Open vSwitch cannot be started here, or undefined. */
export function missingOpenVswitch(): string | undefined {
  return existsSync(join(neutronRoot, "usr/sbin/ovsdb-server")) ? undefined : (missingNeutron() ?? "no ovsdb-server");
}

const readyWithinMs = 20_000;

/** Starts the database with an empty configuration. */
export async function startOpenVswitch(): Promise<OpenVswitch> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-ovs-"));
  const env = neutronEnvironment(directory);
  const at = (name: string): string => join(directory, name);
  const log = at("log");
  const children: ReturnType<typeof startChild>[] = [];
  const run = (program: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: "utf8", timeout: 30_000 });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
    return stdout.trim();
  };
  const start = (program: string, ...args: readonly string[]): void => {
    const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    children.push(startChild("env", [...assignments, program, ...args], log));
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(children.map(endChild));
    rmSync(directory, { recursive: true, force: true });
  };
  const socket = at("db.sock");
  const vsctl = (...args: readonly string[]): string => run("ovs-vsctl", `--db=unix:${socket}`, "--no-wait", ...args);
  const startVswitchd = async (): Promise<void> => {
    start("ovs-vswitchd", `unix:${socket}`, "--enable-dummy=override", "--disable-system", `--unixctl=${at("vswitchd.ctl")}`);
    await until(() => existsSync(at("vswitchd.ctl")), log);
  };
  try {
    writeFileSync(log, "");
    run("ovsdb-tool", "create", at("conf.db"), join(neutronRoot, "usr/share/openvswitch/vswitch.ovsschema"));
    start("ovsdb-server", at("conf.db"), `--remote=punix:${socket}`, `--unixctl=${at("ovsdb.ctl")}`, "-vconsole:warn");
    await until(() => existsSync(socket), log);
    vsctl("init");
    return { socket, directory, vsctl, startVswitchd, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function until(isTrue: () => boolean, log: string): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Open vSwitch is not ready: ${lastLines(log)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
