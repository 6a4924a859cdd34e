// The real workload of a sandbox process under the filter: start, compilation with both compilers of V8, synchronous and suspended calls, garbage
// collection, a limit, a crash. strace sees each call of the kernel before the filter does, so a call that a new Node needs is named.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleGuestProgram } from "../../../hostile/components/guest-program.ts";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import { missing, strace } from "../../../lab/requires.ts";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";
import { SandboxProcess } from "../../../../host/sandbox/process/sandbox-process.ts";
import { defaultJail } from "../../../../host/sandbox/launcher/jail.ts";
import { allowedNames, systemCallFilter } from "../../../../host/sandbox/launcher/system-calls.ts";

const names = ["good-leases", "waits-good", "memory-touched", "trap-unreachable", "spin"];
const granted = ["log", "leases", "state", "delegation"];
const limits = { ...defaultLimits, timeMs: 60_000 };
const components: AdmittedComponent[] = [];
let entry: string;
let directory: string;

beforeAll(async () => {
  entry = await bundleGuestProgram();
  directory = mkdtempSync(join(tmpdir(), "plexus-calls-"));
  // Sandbox processes have another uid.
  chmodSync(directory, 0o755);
  for (const name of names) {
    const admitted = new Admission().admit(await buildWat(name), { granted, limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.push(admitted.value);
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the workload in processes that `launcher` starts; answers how each component's calls ended. */
async function workload(launcher: string): Promise<readonly string[]> {
  const pool = new ProcessPool({ entry, warm: 1, maxProcesses: 2, jail: { ...defaultJail(), launcher } });
  const ends: string[] = [];
  try {
    for (const component of components) {
      let end = "";
      const name = names[components.indexOf(component)] ?? "";
      const repeats = ["good-leases", "memory-touched", "waits-good"].includes(name) ? 60 : 1;
      const bounds = { limits: name === "spin" ? { ...limits, timeMs: 300 } : limits, deadlineMs: 120_000 };
      for (let count = 0; count < repeats; count += 1) {
        const call = { component, verb: "add", request: plainRequests.add, ...bounds } as const;
        const result = await pool.call(call, recordingImports().imports);
        end = result.ok ? "OK" : `${result.fault.kind}: ${result.fault.msg}`;
      }
      ends.push(end);
    }
    return ends;
  } finally {
    await pool.close();
  }
}

/** A script that starts the launcher in another way. */
function launcherScript(name: string, command: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${command}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Starts a process that aborts as V8 does after a failed allocation; answers its end. */
async function crash(launcher: string): Promise<string> {
  const script = join(directory, "crash.cjs");
  writeFileSync(script, "process.abort();\n");
  const { memoryPages, tableEntries } = defaultLimits;
  const init = { node: process.execPath, entry: script, readable: directory, memoryPages, tableEntries };
  const crashing = new SandboxProcess({ ...init, jail: { ...defaultJail(), launcher } });
  return (await crashing.ended).reason;
}

/** Calls that the filter answers with ENOSYS, and what Node does then. */
const dispensable: readonly string[] = [
  "clone3", // The C library makes threads with clone.
  "io_uring_setup", // libuv reads files with its threads.
  "getsockname", // libuv guesses what its standard streams are.
];

/** The names of the calls in a trace of one thread, after the start of Node; none in the trace of the launcher itself. */
function callsOfNode(trace: string): readonly string[] {
  const lines = trace.split("\n");
  if (lines[0]?.startsWith("execve(") === true) return [];
  const started = lines.findIndex((line) => line.startsWith("execve("));
  return lines.slice(started + 1).flatMap((line) => /^([a-z0-9_]+)\(/u.exec(line)?.[1] ?? []);
}

const expected = [
  "OK",
  expect.stringMatching(/^(OK|DELEGATE_FAILED)/),
  "OK",
  expect.stringContaining("DELEGATE_TRAPPED"),
  expect.stringContaining("LIMIT_TIME"),
];

describe("the allowed system calls", () => {
  test("suffice for the real workload", async () => {
    expect(await workload(defaultJail().launcher)).toEqual(expected);
  });

  test("let a crash end the process", async () => {
    expect(await crash(defaultJail().launcher)).toMatch(/^was ended by SIG(ABRT|SEGV|ILL|TRAP|BUS)$/);
  });

  test("have numbers on x86-64 and arm64, and on no other architecture", () => {
    expect(systemCallFilter("x64")).toMatch(/^([0-9a-f]{16})+$/);
    expect(systemCallFilter("arm64")).toMatch(/^([0-9a-f]{16})+$/);
    expect(systemCallFilter("riscv64")).toBeUndefined();
  });

  test.skipIf(missing("the system calls of Node", strace))(
    "have every system call that Node makes, but those that Node can do without",
    async () => {
      const trace = join(directory, "trace");
      const { launcher } = defaultJail();
      const traced = launcherScript("traced", `exec /usr/bin/env -i strace -ff -qq -o ${trace} ${launcher} "$@"`);
      expect(await workload(traced)).toEqual(expected);
      const files = readdirSync(directory).filter((name) => name.startsWith("trace."));
      const made = new Set<string>();
      for (const name of files) for (const call of callsOfNode(readFileSync(join(directory, name), "utf8"))) made.add(call);
      expect(made.size).toBeGreaterThan(20);
      expect([...made].filter((name) => !allowedNames.includes(name) && !dispensable.includes(name))).toEqual([]);
    },
  );
});
