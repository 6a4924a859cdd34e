// A real Open vSwitch for one test file: ovsdb-server, and ovs-vswitchd. With dummy devices neither a kernel module nor a privilege is needed.

import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingNeutron, neutronRoot } from "./packages.ts";
import { programsIn, untilReady } from "./programs.ts";

/** The running switch. */
export interface OpenVswitch {
  /** OVSDB's socket. */
  readonly socket: string;
  readonly directory: string;
  /** Runs ovs-vsctl without waiting for ovs-vswitchd, and answers its output. Throws with its stderr. */
  readonly vsctl: (...args: readonly string[]) => string;
  /** Starts ovs-vswitchd with dummy devices: bridges need `datapath_type=dummy`. `netns`: the network namespace whose kernel has the datapath instead. */
  readonly startVswitchd: (netns?: string) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** The reason why Open vSwitch cannot be started here, or undefined. */
export function missingOpenVswitch(): string | undefined {
  return existsSync(join(neutronRoot, "usr/sbin/ovsdb-server")) ? undefined : (missingNeutron() ?? "no ovsdb-server");
}

/** The reason why the kernel has no datapath for Open vSwitch, or undefined. */
export function missingKernelDatapath(): string | undefined {
  return existsSync("/sys/module/openvswitch") ? undefined : "the kernel's module openvswitch is not loaded";
}

/** Starts the database with an empty configuration. */
export async function startOpenVswitch(): Promise<OpenVswitch> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-ovs-"));
  const { at, log, run, start, dispose } = programsIn(directory);
  const socket = at("db.sock");
  const vsctl = (...args: readonly string[]): string => run("ovs-vsctl", `--db=unix:${socket}`, "--no-wait", ...args);
  const startVswitchd = async (netns?: string): Promise<void> => {
    const common = ["ovs-vswitchd", `unix:${socket}`, `--unixctl=${at("vswitchd.ctl")}`];
    if (netns === undefined) start("env", ...common, "--enable-dummy=override", "--disable-system");
    else start("nsenter", `--net=${netns}`, ...common);
    await untilReady(() => run("ovs-appctl", "-t", at("vswitchd.ctl"), "version"), log);
  };
  try {
    run("ovsdb-tool", "create", at("conf.db"), join(neutronRoot, "usr/share/openvswitch/vswitch.ovsschema"));
    start("ovsdb-server", at("conf.db"), `--remote=punix:${socket}`, `--unixctl=${at("ovsdb.ctl")}`, "-vconsole:warn");
    // The server binds its socket before it listens, so the file alone proves nothing.
    await untilReady(() => vsctl("init"), log);
    return { socket, directory, vsctl, startVswitchd, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
