// Runs the launcher's own probe in a jail: a program that tries what an escaped guest would try.

import { spawn } from "node:child_process";
import { FrameDecoder, frameTypes } from "./frames.ts";
import type { Control } from "../launcher/controls.ts";
import { type Launched, readLaunched } from "../launcher/launched.ts";

/** The tries of the probe (probe.c), each with the control that it examines first. Another control may refuse it, too. */
export const tries: Readonly<Record<string, Control>> = {
  "socket-inet": "system-calls",
  "socket-inet6": "system-calls",
  "socket-packet": "system-calls",
  "socket-netlink": "system-calls",
  "socket-unix": "system-calls",
  "socket-vsock": "system-calls",
  "io-uring": "system-calls",
  fork: "system-calls",
  "fork-clone3": "system-calls",
  "kill-other": "pid-namespace",
  "kill-all": "system-calls",
  "ptrace-other": "pid-namespace",
  "read-memory": "pid-namespace",
  pidfd: "pid-namespace",
  "read-outside": "files",
  "read-proc": "files",
  "write-root": "files",
  "write-tmp": "files",
  "make-directory": "files",
  memory: "limits",
  "user-namespace": "system-calls",
  "network-namespace": "no-capabilities",
  mount: "no-capabilities",
  chroot: "no-capabilities",
  keyring: "system-calls",
  bpf: "system-calls",
  "perf-event": "system-calls",
  userfaultfd: "system-calls",
  "anonymous-file": "system-calls",
  "uid-0": "no-capabilities",
  "new-session": "process-group",
};

/** The findings of the probe. */
export interface ProbeReport {
  readonly launched: Launched;
  /** The errno of each try; 0: it succeeded. */
  readonly errors: ReadonlyMap<string, number>;
}

/** The targets that the probe tries to reach. */
export interface ProbeTargets {
  /** A process outside of the jail, which is not harmed. */
  readonly pid: number;
  /** A file outside of the jail that every user may read. */
  readonly file: string;
  /** More bytes of memory than the jail's bound. */
  readonly bytes: number;
}

/** The probe as the launcher's command. */
export function probeCommand({ pid, file, bytes }: ProbeTargets): readonly [string, ...string[]] {
  return ["probe", String(pid), file, String(bytes)];
}

const maxProbeMs = 10_000;
const maxFrameBytes = 1024;

/** Starts the launcher with these arguments, which end with the probe's command. Answers what failed in one phrase if there is no report. */
export async function runProbe(launcher: string, args: readonly string[]): Promise<ProbeReport | string> {
  const child = spawn(launcher, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"], timeout: maxProbeMs });
  const decoder = new FrameDecoder(maxFrameBytes);
  const errors = new Map<string, number>();
  let launched: Launched | string = "the launcher sent no report";
  const { promise, resolve } = Promise.withResolvers<string>();
  child.on("error", (error) => resolve(`the launcher could not be started: ${error.message}`));
  child.on("close", (code, signal) => resolve(signal === null ? `ended with status ${code}` : `ended by ${signal}`));
  child.stdin.on("error", () => undefined);
  child.stdout.on("data", (chunk: Buffer) => {
    for (const { type, json } of decoder.push(chunk)) {
      if (type === frameTypes.LAUNCHED) launched = readLaunched(json);
      else if (type === frameTypes.PROBED) {
        const { tried, errno } = json as { tried: string; errno: number };
        errors.set(tried, errno);
      }
    }
  });
  const end = await promise;
  if (typeof launched === "string") return `${launched}; ${end}`;
  const untried = Object.keys(tries).filter((name) => !errors.has(name));
  return untried.length === 0 ? { launched, errors } : `the probe did not try ${untried.join(", ")}; ${end}`;
}
