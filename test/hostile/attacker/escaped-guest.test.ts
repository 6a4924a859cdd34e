// A guest that broke out of V8, played by a C program that runs in a real sandbox process in place of Node, with the real launcher. Without
// the jail the same program succeeds, so each refusal is the jail's.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { type Control, controls } from "../../../host/sandbox/launcher/controls.ts";
import { canBecome, defaultJail, type Jail, leastUid } from "../../../host/sandbox/launcher/jail.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { frameTypes } from "../../../host/sandbox/process/frames.ts";
import { SandboxProcess } from "../../../host/sandbox/process/sandbox-process.ts";
import { compiledPlugin } from "../../lab/compiled.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { sandboxProcesses } from "../../lab/sandbox-processes.ts";

const escapee = compiledPlugin("escapee");
const directory = mkdtempSync(join(tmpdir(), "plexus-escaped-"));
const secret = join(directory, "secret");
const socket = join(directory, "plexus.sock");
let server: Server;

beforeAll(async () => {
  writeFileSync(secret, "secret", { mode: 0o644 });
  server = createServer().listen(socket);
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the program; `task` has what it attacks. */
function startEscapee(task: string, jail: Jail | undefined): SandboxProcess {
  const { memoryPages, tableEntries } = defaultLimits;
  return new SandboxProcess({ node: escapee, entry: task, readable: dirname(escapee), memoryPages, tableEntries, jail });
}

interface Attack {
  readonly process: SandboxProcess;
  /** By the name of the try: 0 for a success or an errno; a number for the tries that count. */
  readonly results: ReadonlyMap<string, number>;
}

/** Runs all tries. The process stays. */
async function attack(jail: Jail | undefined, victim: number, forks: number): Promise<Attack> {
  const process = startEscapee(`${victim},${socket},${secret},${forks}`, jail);
  expect(await process.ready()).toBe(true);
  const results = new Map<string, number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  process.listen(({ json }) => {
    const { tried, value } = json as { tried: string; value: number };
    if (tried === "end") resolve();
    else results.set(tried, value);
  });
  process.send(frameTypes.CALL, 1, {});
  await Promise.race([promise, process.ended.then(({ reason }) => Promise.reject(new Error(reason)))]);
  return { process, results };
}

/** Starts a second sandbox process, runs all tries against it, and ends both. */
async function attackBesideAnother(jail: Jail | undefined, forks: number): Promise<Attack & { readonly survivor: number }> {
  const victim = startEscapee("0", defaultJail());
  expect(await victim.ready()).toBe(true);
  const [pid = 0] = sandboxProcesses("escapee");
  const { process, results } = await attack(jail, pid, forks);
  for (const each of [process, victim]) {
    each.kill("was ended by the test");
    await each.ended;
  }
  return { process, results, survivor: results.get("survivor") ?? 0 };
}

/** Tries that must fail in the jail, by the controls of which one is enough to stop the try. */
const refused: readonly (readonly [name: string, controls: readonly Control[]])[] = [
  ["execute", ["system-calls"]],
  ["inet", ["system-calls"]],
  ["inet6", ["system-calls"]],
  ["packet", ["system-calls", "no-capabilities"]],
  ["netlink", ["system-calls"]],
  ["daemon-socket", ["system-calls", "files"]],
  ["daemon-socket-replaced", ["system-calls", "files", "landlock"]],
  ["io-uring", ["system-calls"]],
  ["user-namespace", ["system-calls"]],
  ["mount", ["system-calls", "no-capabilities"]],
  ["signal", ["pid-namespace", "system-calls"]],
  ["ptrace", ["pid-namespace", "system-calls"]],
  ["proc-environ", ["files", "landlock"]],
  ["proc-mem", ["files", "landlock", "system-calls"]],
  ["read-memory", ["pid-namespace", "system-calls"]],
  ["passwd", ["files", "landlock"]],
  ["file", ["files", "landlock"]],
  ["file-written", ["files", "landlock", "system-calls"]],
  ["tmp-written", ["files", "landlock", "system-calls"]],
  ["limit-raised", ["system-calls", "limits"]],
];

/** setpriv(1) must give the capabilities of the chart's container; the tests then need root and the uids of sandbox processes. */
const chartPrivileges: Requirement = () =>
  canBecome(defaultUids) && spawnSync("setpriv", [...chart, "true"]).status === 0 ? undefined : "this user may not change users";

const chart = ["--bounding-set=-all,+setuid,+setgid", "--inh-caps=-all", "--no-new-privs"];

/** The jail of a daemon with the chart's privileges, in a container whose seccomp profile denies every namespace. */
function jailWithoutNamespaces(): Jail {
  const launcher = join(directory, "launcher");
  const { launcher: real } = defaultJail();
  // The first option of the launcher is --namespaces, with its value.
  writeFileSync(launcher, `#!/bin/sh\nshift 2\nexec setpriv ${chart.join(" ")} ${real} "$@"\n`, { mode: 0o755 });
  return { ...defaultJail(), launcher };
}

const places = [
  ["with this machine's rights", defaultJail, []],
  ["in a container with the chart's privileges and no namespaces", jailWithoutNamespaces, [chartPrivileges]],
] as const;

describe.each(places)("an escaped guest in the jail %s", (place, jail, requirements) => {
  const isMissing = missing(place, ...requirements);
  let results: ReadonlyMap<string, number>;
  let process: SandboxProcess;
  let socketBefore: number;

  beforeAll(async () => {
    socketBefore = statSync(socket).ino;
    if (!isMissing) ({ process, results } = await attackBesideAnother(jail(), 1500));
  });

  test.skipIf(isMissing).each(refused)("%s is refused", (name, needed) => {
    expect(needed.some((control) => process.controls.has(control))).toBe(true);
    expect(results.get(name)).toBeGreaterThan(0);
  });

  test.skipIf(isMissing)("has no process beside it: none of 1,500 forks, no child that survives its end", () => {
    expect(results.get("forks")).toBe(0);
    expect(results.get("survivor")).toBe(0);
  });

  test.skipIf(isMissing)(
    "has no capability, no variable but a fixed one, and no descriptor but its two pipes, and can gain no privilege",
    () => {
      expect(results.get("capabilities")).toBe(0);
      expect(results.get("environment")).toBe(0);
      expect(results.get("descriptors")).toBe(0);
      expect(results.get("no-new-privileges")).toBe(1);
    },
  );

  test.skipIf(isMissing)("has a uid of its own where the engine may change users", () => {
    expect(process.controls.has("own-uid")).toBe(canBecome(defaultUids));
    expect(process.uid).toBeGreaterThanOrEqual(leastUid(defaultUids));
  });

  test.skipIf(isMissing)("leaves the daemon's socket and the files of the node as they are", () => {
    expect(statSync(socket).ino).toBe(socketBefore);
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });
});

test("every control that this node has is set up", () => {
  // The reasons for which a control may be absent here are conditions of the machine, which the test can see.
  const conditions: Partial<Record<Control, boolean>> = {
    "own-uid": canBecome(defaultUids),
    landlock: readFileSync("/proc/kallsyms", "utf8").includes("landlock_restrict_self"),
    cgroup: false,
  };
  const jailed = startEscapee("0", defaultJail());
  return jailed
    .ready()
    .then(() => {
      expect([...jailed.controls].toSorted()).toEqual(controls.filter((control) => conditions[control] ?? true).toSorted());
    })
    .finally(() => jailed.kill("was ended by the test"));
});

test("without the jail the same program succeeds", async () => {
  const { results, survivor } = await attackBesideAnother(undefined, 20);
  const asRoot = process.getuid?.() === 0 ? ["packet", "signal", "ptrace", "proc-environ", "tmp-written"] : [];
  const succeeded = refused.filter(([name]) => results.get(name) === 0).map(([name]) => name);
  expect(succeeded).toEqual(
    expect.arrayContaining(["inet", "inet6", "netlink", "daemon-socket", "daemon-socket-replaced", "passwd", "file", ...asRoot]),
  );
  expect(results.get("forks")).toBe(20);
  expect(survivor).toBeGreaterThan(0);
  expect(existsSync(`/proc/${survivor}`)).toBe(true);
  process.kill(survivor, "SIGKILL");
});
