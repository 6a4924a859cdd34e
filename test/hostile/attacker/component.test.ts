// An attacker who gets a component onto a node: into a directory of CNI_PATH, or as a plugin that an administrator installed in good faith.

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { readFileSync } from "node:fs";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { type Answer, dist, type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";
import { descendantsOf } from "../../lab/sandbox-processes.ts";
import { cpuMsOf } from "../../lab/cpu-ms.ts";
import { deepDescription, nestedInstances } from "../components/grown.ts";
import { plainRequests, recordingImports } from "../components/requests.ts";

const components = ["ipam-host-local", "status-shaper", "bridge-adapter"];
const build = missingBuild({ components });
if (build !== undefined) throw new Error(build);

/** The component of the calls that must not be delayed. */
const good = "ipam-host-local";

/** An ADD with one step of this type, of a container of its own. */
function add(
  plexus: Installation,
  type: string,
  container: string,
  more: object = {},
  env: Record<string, string> = {},
): Promise<Answer> {
  return plexus.call({
    verb: "ADD",
    containerId: container,
    netns: "/run/netns/none",
    ifname: "eth0",
    config: {
      cniVersion: "1.0.0",
      name: "attacker",
      type: "plexus",
      cniDir: plexus.state("lib"),
      runDir: plexus.runState("run"),
      wasm: { grants: { [good]: { log: {}, leases: { directories: [plexus.state("leases")] }, resolver: {} } }, ...more },
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type, ipam: { type, subnet: "10.74.0.0/16" } }] }],
    },
    env,
  });
}

/** Maximum CPU time of the calls beside the refused ones and of the refusals, in ms. */
const maxCpuMs = 5000;

/** The CPU time of a daemon and of its sandbox processes, in ms. */
function cpuOf({ pid }: TestDaemon): number {
  const processes = [pid, ...descendantsOf(pid)];
  return processes.reduce((sum, each) => sum + cpuMsOf(each), 0);
}

describe("a component whose admission takes minutes", () => {
  let plexus: Installation;
  let daemon: TestDaemon;
  let calls = 0;
  beforeAll(async () => {
    plexus = installPlexus({ components });
    daemon = await startDaemon({
      socket: join(plexus.directory, "daemon", "plexus.sock"),
      args: ["--state-dir", plexus.state("daemon")],
    });
    // A call that the daemon does not serve fails: there is no one-shot engine.
    rmSync(join(plexus.home, "plexusd.cjs"));
    const answer = await addOf(good);
    if (answer.status !== 0) throw new Error(answer.stdout);
  });
  afterAll(async () => {
    await daemon.stop();
    plexus.dispose();
  });

  const addOf = (type: string): Promise<Answer> => add(plexus, type, `c${(calls += 1)}`, {}, { PLEXUS_SOCKET: daemon.socket });

  async function expectGoodCalls(): Promise<void> {
    for (let times = 0; times < 10; times++) expect(await addOf(good)).toMatchObject({ status: 0 });
  }

  test.each([
    ["of 4 KB, whose refusal would describe a type of a thousand million parts", "describes", () => deepDescription(1000)],
    ["with 200 instances of a nested component of 3.6 MB", "nests", () => nestedInstances(200, 3_600_000)],
  ])("%s is refused with little work, and delays no other call", async (_, name, make) => {
    const bytes = make();
    // No configuration names the file yet.
    writeFileSync(join(plexus.cniPath, `${name}.wasm`), bytes);
    await expectGoodCalls();
    const before = cpuOf(daemon);
    // A call is killed after a minute.
    const [refused] = await Promise.all([Promise.all([1, 2, 3, 4].map(() => addOf(name))), expectGoodCalls()]);
    expect(cpuOf(daemon) - before).toBeLessThan(maxCpuMs);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 1, json: { code: catalogue.COMPONENT_REFUSED.cni } });
      expect(answer.stdout.length).toBeLessThan(4000);
    }
  });
});

describe("a daemon that cannot be reached", () => {
  let plexus: Installation;
  beforeEach(() => {
    plexus = installPlexus({ components });
    // The one-shot engine's own files, so that the sandbox process' program can be replaced.
    for (const name of ["plexusd.cjs", "engine"]) {
      rmSync(join(plexus.home, name));
      cpSync(join(dist, name), join(plexus.home, name), { recursive: true, filter: (path) => !path.includes("/cache") });
    }
    cpSync(join(dist, "bin", "plexus-sandbox"), join(plexus.home, "bin", "plexus-sandbox"));
  });
  afterEach(() => plexus.dispose());

  const program = () => join(plexus.home, "engine", "guest-process.cjs");
  const env = () => ({ PLEXUS_SOCKET: join(plexus.directory, "none.sock") });

  test("a component runs in the one-shot engine that the shim starts", async () => {
    expect(await add(plexus, good, "c1", {}, env())).toMatchObject({ status: 0 });
  });

  test.each([
    ["ends at its start", () => writeFileSync(program(), "process.exit(1);\n")],
    ["is missing", () => rmSync(program())],
  ])("a sandbox process that %s: the step fails with code 11, and runs in no weaker isolation", async (_, damage) => {
    damage();
    for (const wasm of [{}, { isolation: "process" }]) {
      const answer = await add(plexus, good, "c1", wasm, env());
      expect(answer).toMatchObject({ status: 1, json: { code: 11 } });
      expect(answer.json?.["details"]).toContain("[SANDBOX_UNAVAILABLE]");
    }
    // Only the administrator's own choice has weaker isolation.
    expect(await add(plexus, good, "c2", { isolation: "in-process" }, env())).toMatchObject({ status: 0 });
  });
});

// The escaped guest owns its process. It answers the first component's calls well, and calls `links` in each call of another component or
// source.
const escapedGuest = `
const { readSync, writeSync } = require("node:fs");
function exactly(n) { const b = Buffer.alloc(n); for (let a = 0; a < n; ) { const c = readSync(0, b, a, n - a, null); if (c === 0) process.exit(0); a += c; } return b; }
function read() { return exactly(exactly(4).readUInt32LE(0)); }
function send(type, of, json) { const t = Buffer.from(JSON.stringify(json)); const h = Buffer.alloc(13); h.writeUInt32LE(9 + t.length); h[4] = type; h.writeUInt32LE(of, 5); h.writeUInt32LE(t.length, 9); writeSync(1, Buffer.concat([h, t])); }
send(16, 0, { uid: 0, gid: 0 });
let calls = 0;
for (;;) {
  const frame = read();
  if (frame[0] !== 2) continue;
  const number = frame.readUInt32LE(1);
  calls += 1;
  if (calls > 1) { send(17, number, { capability: "links", func: "apply", args: [] }); read(); }
  send(19, number, { kind: "answered", answer: { ok: { interfaces: [], ips: [], routes: [] } }, report: {} });
}
`;

describe("a guest that broke out of its sandbox and owns its process", () => {
  const limits = { ...defaultLimits, timeMs: 60_000 };
  const granted = ["log", "leases", "resolver", "links", "firewall", "delegation", "announce", "state", "sysctl"];
  const directory = resolve("dist/test/hostile-process");
  let pool: ProcessPool;
  afterEach(() => pool.close());

  function admitted(name: string): AdmittedComponent {
    const result = new Admission().admit(readFileSync(join(dist, "delegates", `${name}.wasm`)), { granted, limits });
    if (!result.ok) throw new Error(result.fault.msg);
    return result.value;
  }

  function start(): void {
    mkdirSync(directory, { recursive: true });
    const entry = join(directory, "escaped-guest.cjs");
    writeFileSync(entry, escapedGuest);
    pool = new ProcessPool({ entry, warm: 2, maxProcesses: 2 });
  }

  test("as status-shaper never gets bridge-adapter's calls", async () => {
    start();
    const [shaper, bridge] = [admitted("status-shaper"), admitted("bridge-adapter")];
    const bare = { verb: "add", request: plainRequests.add, limits, deadlineMs: 60_000 } as const;
    expect(await pool.call({ ...bare, component: shaper }, recordingImports().imports)).toMatchObject({ ok: true });
    // On a process of its own, bridge-adapter's first call is answered without an import.
    const { imports, calls } = recordingImports();
    expect(await pool.call({ ...bare, component: bridge }, imports)).toMatchObject({ ok: true });
    expect(calls).toEqual([]);
    // In its own process the escaped guest has only its own component's capabilities.
    expect(await pool.call({ ...bare, component: shaper }, imports)).toMatchObject({ fault: { kind: "ABI_VIOLATED" } });
    expect(calls).toEqual([]);
  });

  test("never gets the calls of its component from another source", async () => {
    start();
    const bridge = admitted("bridge-adapter");
    const bare = { component: bridge, verb: "add", request: plainRequests.add, limits, deadlineMs: 60_000 } as const;
    for (const source of ["shop", "bank", "kube-system"]) {
      const { imports, calls } = recordingImports();
      expect(await pool.call({ ...bare, source }, imports)).toMatchObject({ ok: true });
      expect(calls).toEqual([]);
    }
  });
});
