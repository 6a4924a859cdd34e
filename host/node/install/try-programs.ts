// Runs the programs that an installation is about to switch to, once each.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { errnoOf } from "../../store/files/errno.ts";

/** The versions of the programs that ran. */
export interface TriedPrograms {
  /** The shim's release. */
  readonly shim: string;
  /** Node's version; null without a one-shot engine. */
  readonly node: string | null;
}

const timeoutMs = 30_000;

/** Can't be made, so this engine takes no slot: the bound on the node's one-shot engines does not concern it. Nothing is written. */
const noRunDirectory = "/dev/null/plexus";

/**
 * Runs the shim and, with a home directory, its Node and the one-shot engine, as the runtime's VERSION does. Fault INSTALL_REFUSED, which names a missing
 * library. With another root the programs run with this container's libraries, not with the node's.
 */
export function tryPrograms(shim: string, home: string | undefined): Result<TriedPrograms> {
  // Without CNI_COMMAND the shim prints its release and starts nothing.
  for (const program of [shim, ...(home === undefined ? [] : [join(home, "bin", "node")])]) {
    const foreign = foreignArchitecture(program);
    if (foreign !== undefined) return refused(foreign);
  }
  const about = run(shim, [], {});
  const release = /^CNI plugin plexus (\S+):/.exec(about.stderr)?.[1];
  if (release === undefined) return refused(`the shim ${shim} does not run here: ${about.reason}`);
  if (home === undefined) return ok({ shim: release, node: null });
  const executable = join(home, "bin", "node");
  const node = run(executable, ["--version"], {});
  if (node.status !== 0) return refused(`Node ${executable} does not run here: ${node.reason}`);
  const environment = { CNI_COMMAND: "VERSION", PLEXUS_HOME: home, PLEXUS_SOCKET: "/nonexistent/plexus.sock" };
  const version = run(shim, [], environment, JSON.stringify({ runDir: noRunDirectory }));
  if (version.status !== 0 || !version.stdout.includes('"supportedVersions"'))
    return refused(`the one-shot engine in ${home} does not answer VERSION: ${version.stdout.trim() || version.reason}`);
  return ok({ shim: release, node: node.stdout.trim() });
}

/** `e_machine` of executables for this program's architecture (elf.h). */
const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };
const machineAt = 18;
const headerBytes = 20;

/** Reads the ELF header: execvp(3) gives a foreign executable to the shell, whose message misleads. Throws the system's error. */
function foreignArchitecture(program: string): string | undefined {
  const header = Buffer.alloc(headerBytes);
  const file = openSync(program, "r");
  try {
    readSync(file, header);
  } finally {
    closeSync(file);
  }
  if (header.readUInt32BE(0) !== 0x7f454c46 || header.readUInt16LE(machineAt) === machines[process.arch]) return undefined;
  return `${program} is for another CPU architecture than this node's (${process.arch})`;
}

interface RunProgram {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why the program failed, for a message. */
  readonly reason: string;
}

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>, input = ""): RunProgram {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...env },
    encoding: "utf8",
    input,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  return {
    status,
    stdout: stdout ?? "",
    stderr: stderr ?? "",
    reason: startFailure(error) ?? loaderFailure(stderr ?? "") ?? `${signal ?? `status ${status}`}: ${(stderr ?? "").trim()}`,
  };
}

function startFailure(error: Error | undefined): string | undefined {
  if (error === undefined) return undefined;
  switch (errnoOf(error)) {
    case "ENOENT":
      return "its dynamic loader is missing. Node needs glibc; on a node without glibc give --one-shot off";
    case "EACCES":
      return "permission denied: the file system is mounted noexec, or a security module forbids it";
    case "ETIMEDOUT":
      return `it did not end within ${timeoutMs / 1000} s`;
    default:
      return error.message;
  }
}

/** The messages of glibc's loader, as a remedy. */
function loaderFailure(stderr: string): string | undefined {
  const library = /error while loading shared libraries: (\S+):/.exec(stderr)?.[1];
  if (library !== undefined)
    return `the library ${library} is missing. Install ${packageOf(library)} on the node, or give --one-shot off`;
  const symbol = /version [`'](\S+?)' not found/.exec(stderr)?.[1];
  return symbol === undefined
    ? undefined
    : `a library of the node is too old: ${symbol} is missing. Update the node, or give --one-shot off`;
}

/** The package of a library, for the libraries that minimal systems lack. */
function packageOf(library: string): string {
  const packages: Readonly<Record<string, string>> = {
    "libatomic.so.1": "libatomic.so.1 (Debian: libatomic1; Fedora and RHEL: libatomic)",
    "libstdc++.so.6": "libstdc++.so.6 (Debian: libstdc++6; Fedora and RHEL: libstdc++)",
  };
  return packages[library] ?? library;
}

function refused(why: string): ReturnType<typeof failed> {
  return failed(fault("INSTALL_REFUSED", why));
}
