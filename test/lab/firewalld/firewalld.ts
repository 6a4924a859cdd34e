// A real firewalld for tests, unpacked from Debian's packages into the user's cache directory, in the network namespace of a test's node and on a bus of its own.
// The bus' programs and Python's modules for it are the machine's.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { testCache, unpackPackages } from "../debian-packages.ts";
import type { PodNamespace } from "../namespaces.ts";
import type { Requirement } from "../requires.ts";

const unpacked = join(testCache, "debian-firewalld");
const program = join(unpacked, "usr", "sbin", "firewalld");
const python = "/usr/bin/python3";
const modules = { PYTHONPATH: join(unpacked, "usr", "lib", "python3", "dist-packages") };
const service = "org.fedoraproject.FirewallD1";
/** Ends a hang only. */
const maxWaitMs = 120_000;
const pauseMs = 50;

/** Unpacks Debian's packages if they are absent. Answers the reason of a failure, or undefined. */
export function unpackFirewalld(): string | undefined {
  return existsSync(program) ? undefined : unpackPackages(["firewalld", "python3-firewall", "python3-nftables"], unpacked);
}

/** Requires firewalld, a bus, and Python's modules for both. */
export const firewalldRuns: Requirement = () => {
  if (!existsSync(program)) return "no firewalld: on Debian, run test/lab/firewalld/get.ts";
  const code = "import dbus, gi, nftables, firewall.config";
  const imported = spawnSync(python, ["-c", code], { encoding: "utf8", env: modules });
  if (imported.status !== 0)
    return `firewalld does not run here (Debian: apt-get install python3-dbus python3-gi libnftables1): ${(imported.stderr ?? "").trim().slice(-200)}`;
  // dbus-send has no option that only answers.
  const found = spawnSync("sh", ["-c", "command -v dbus-daemon && command -v dbus-send"], { stdio: "ignore" });
  if (found.status !== 0) return "no dbus-daemon or dbus-send on PATH (Debian: apt-get install dbus)";
  return undefined;
};

/** A firewalld that runs. */
export interface Firewalld {
  /** The socket of the bus. */
  readonly bus: string;
  /** The sources of a zone, as firewalld itself answers them. */
  readonly sources: (zone: string) => readonly string[];
  /** Removes a source, as an administrator does. */
  readonly removeSource: (zone: string, source: string) => void;
  /** Ends firewalld, which removes its rules, and keeps the bus. */
  readonly stop: () => Promise<void>;
  /** Ends both. */
  readonly dispose: () => Promise<void>;
}

/** The configuration of a bus on which each user may own and call all. */
export const busConfiguration = (
  socket: string,
): string => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_requested_reply="true"/>
    <allow receive_requested_reply="true"/>
    <allow send_type="signal"/>
    <allow receive_type="signal"/>
    <allow receive_type="method_call"/>
    <allow receive_type="error"/>
    <allow receive_type="method_return"/>
  </policy>
</busconfig>
`;

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "close");
  child.kill("SIGTERM");
  await ended;
};

/** Starts a bus, and firewalld in the node's namespace, and waits until it answers. */
export async function startFirewalld(node: PodNamespace): Promise<Firewalld> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-firewalld-"));
  const bus = join(directory, "bus");
  const address = `unix:path=${bus}`;
  const file = join(directory, "bus.conf");
  writeFileSync(file, busConfiguration(bus));
  const busDaemon = spawn("dbus-daemon", [`--config-file=${file}`, "--nofork", "--nopidfile"], { stdio: "ignore" });
  const settings = join(directory, "settings");
  mkdirSync(settings);
  writeFileSync(
    join(settings, "firewalld.conf"),
    "DefaultZone=public\nFirewallBackend=nftables\nCleanupOnExit=yes\nIPv6_rpfilter=no\n",
  );
  const log = join(directory, "log");
  const defaults = join(unpacked, "usr", "lib", "firewalld");
  const options = ["--nofork", "--nopid", `--system-config=${settings}`, `--default-config=${defaults}`, `--log-file=${log}`];
  const firewalld = spawn("nsenter", [`--net=${node.path}`, "--", python, program, ...options], {
    env: { ...process.env, ...modules, DBUS_SYSTEM_BUS_ADDRESS: address },
    stdio: "ignore",
  });
  const send = (member: string, ...texts: readonly string[]): { readonly status: number | null; readonly stdout: string } =>
    spawnSync(
      "dbus-send",
      [
        `--bus=${address}`,
        "--print-reply",
        `--dest=${service}`,
        "/org/fedoraproject/FirewallD1",
        `${service}.${member}`,
        ...texts.map((text) => `string:${text}`),
      ],
      { encoding: "utf8" },
    );
  for (let waited = 0; send("getDefaultZone").status !== 0; waited += pauseMs) {
    if (waited >= maxWaitMs || firewalld.exitCode !== null)
      throw new Error(`firewalld does not answer: ${existsSync(log) ? readFileSync(log, "utf8").slice(-2000) : "no log"}`);
    await setTimeout(pauseMs);
  }
  return {
    bus,
    sources: (zone) => [...send("zone.getSources", zone).stdout.matchAll(/string "([^"]*)"/gu)].map(([, source = ""]) => source),
    removeSource(zone, source) {
      if (send("zone.removeSource", zone, source).status !== 0)
        throw new Error(`firewalld did not remove ${source} from ${zone}`);
    },
    stop: () => end(firewalld),
    async dispose() {
      await end(firewalld);
      await end(busDaemon);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
