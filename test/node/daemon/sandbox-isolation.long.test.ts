// The levels of isolation in the installed programs: what the daemon needs to be ready, what it gives up, and what is refused.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Control, controls } from "../../../host/sandbox/launcher/controls.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { type DaemonOptions, sandboxUidsHere, startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import { dist } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { descendantsOf, sandboxProcesses } from "../../lab/sandbox-processes.ts";
import { missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const ownUids: Requirement = () =>
  canBecome(defaultUids) ? undefined : "this user namespace maps no uids for sandbox processes";
const withoutCapabilities = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];

interface Diagnosis {
  readonly holds: boolean;
  readonly controls: readonly { readonly name: Control; readonly isSetUp: boolean; readonly holds: boolean }[];
}

function doctor(...args: readonly string[]): { readonly status: number | null; readonly diagnosis: Diagnosis } {
  const uids = sandboxUidsHere();
  const command = [join(dist, "plexusctl.cjs"), "doctor", "--prove-sandbox", "-o", "json", "--status-socket", "/nonexistent"];
  const { status, stdout } = spawnSync(process.execPath, [...command, ...uids, ...args], { encoding: "utf8" });
  return { status, diagnosis: JSON.parse(stdout) };
}

/** A field of /proc/PID/status of a thread. */
const fieldOf = (status: string, name: string): string => new RegExp(`^${name}:\\s*(\\S+)$`, "m").exec(status)?.[1] ?? "";

describe.skipIf(missingForMixed("isolation"))("isolation", () => {
  let stage: Stage;
  const daemons: TestDaemon[] = [];
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(async () => {
    await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
    stage.dispose();
  });

  const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  async function daemon(options: Partial<DaemonOptions> = {}): Promise<TestDaemon> {
    const started = await startDaemon({ socket: socket(), ...options });
    daemons.push(started);
    return started;
  }
  const ask = (path: string) => httpRequest(join(dirname(socket()), "status.sock"), path);
  /** Adds a pod whose network has a step that is a component; answers the code and the message, or 0. */
  async function add(isolation: string, home?: string): Promise<string> {
    const config = { ...mixedNetwork(stage), wasm: { ...Object(Reflect.get(mixedNetwork(stage), "wasm")), isolation } };
    const env = { PLEXUS_SOCKET: socket(), ...(home === undefined ? {} : { PLEXUS_HOME: home }) };
    const pod = stage.pod();
    const call = { containerId: "pod", netns: pod.path, ifname: "eth0", config, env };
    const answer = await stage.request({ verb: "ADD", ...call });
    await stage.request({ verb: "DEL", ...call });
    return answer.status === 0 ? "0" : `${String(answer.json?.["code"])} ${String(answer.json?.["msg"])}`;
  }

  test.skipIf(missing("a daemon that may not change users", ownUids))(
    "a daemon whose sandbox processes would have its own uid is not ready, and runs no component",
    async () => {
      await daemon({ through: withoutCapabilities });
      await expect
        .poll(async () => (await ask("/readyz")).body)
        .toMatch(/its jail lacks own-uid \(needs CAP_SETUID and CAP_SETGID/);
      expect((await ask("/readyz")).status).toBe(503);
      expect(await add("process", "/nowhere")).toMatch(/^11 .*own-uid/);
    },
  );

  test("with --sandbox-uids same it is ready, and its status and metrics name the missing controls", async () => {
    await daemon({ through: withoutCapabilities, args: ["--sandbox-uids", "same"] });
    await expect.poll(async () => (await ask("/readyz")).status).toBe(200);
    const status = JSON.parse((await ask("/status")).body);
    expect(status.daemon.isolation).toMatchObject({ level: "process", missing: expect.arrayContaining(["own-uid"]) });
    expect(status.daemon.information.isolation).toContain("own-uid (needs CAP_SETUID");
    const metrics = (await ask("/metrics")).body;
    expect(metrics).toContain('plexus_sandbox_control{control="own-uid"} 0');
    expect(metrics).toContain('plexus_sandbox_control{control="system-calls"} 1');
    expect(await add("process", "/nowhere")).toBe("0");
  });

  test("FI-28: a daemon gives up all capabilities, in all its threads, and can gain none", async () => {
    const { pid } = await daemon();
    await expect.poll(async () => (await ask("/readyz")).status).toBe(200);
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
      const found = ["CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"].map((name) => BigInt(`0x${fieldOf(text, name)}`));
      expect([thread, found, fieldOf(text, "NoNewPrivs")]).toEqual([thread, [0n, 0n, 0n, 0n, 0n], "1"]);
    }
    expect(await add("process", "/nowhere")).toBe("0");
  });

  test.skipIf(missing("uids of sandbox processes", ownUids)).each([
    { how: "new", programs: ["plexus-launcher"] },
    { how: "copy", programs: ["plexus-launcher", "plexus-zygote"] },
  ])(
    "FI-28: only the launch server and its zygote have the two capabilities that change a process' user; both end with the daemon ($how)",
    async ({ how, programs }) => {
      const { pid, stop } = await daemon({ args: ["--sandboxes", "2", "--sandbox-start", how] });
      await expect.poll(() => sandboxProcesses("guest-process.cjs", pid).length).toBe(2);
      const privileged = descendantsOf(pid).filter((each) => {
        const text = readFileSync(`/proc/${each}/status`, "utf8");
        return BigInt(`0x${fieldOf(text, "CapPrm")}`) !== 0n;
      });
      const found = privileged.map((each) => {
        const text = readFileSync(`/proc/${each}/status`, "utf8");
        return ["Name", "CapPrm", "CapBnd", "NoNewPrivs"].map((name) => fieldOf(text, name));
      });
      const rights = ["00000000000000c0", "00000000000000c0", "1"];
      expect(found).toEqual(programs.map((program) => [program, ...rights]));
      const all = descendantsOf(pid);
      daemons.splice(0);
      expect(await stop()).toBe(0);
      await expect.poll(() => all.filter((each) => existsSync(`/proc/${each}`))).toEqual([]);
    },
  );

  test.skipIf(missing("an end of the launch server", ownUids))(
    "a daemon whose launch server was killed ends, so that its supervisor starts both anew",
    async () => {
      const started = await daemon();
      await expect.poll(async () => (await ask("/readyz")).status).toBe(200);
      const server = descendantsOf(started.pid).find(
        (each) => readFileSync(`/proc/${each}/comm`, "utf8") === "plexus-launcher\n",
      );
      daemons.splice(0);
      process.kill(server ?? Number.NaN, "SIGKILL");
      await started.ended;
      expect(started.stderr()).toContain("the launch server was killed");
    },
  );

  test.skipIf(missing("uids of sandbox processes", ownUids))("each sandbox process has a uid of its own", async () => {
    const { pid } = await daemon({ args: ["--sandboxes", "2"] });
    await expect.poll(() => sandboxProcesses("guest-process.cjs", pid).length).toBe(2);
    const uids = sandboxProcesses("guest-process.cjs", pid).map((each) =>
      Number(/^Uid:\s*(\d+)/m.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1]),
    );
    expect(new Set(uids).size).toBe(2);
    for (const uid of uids) expect(uid).toBeGreaterThanOrEqual(defaultUids.first);
  });

  test("a daemon does not start with a socket that another user could replace", () => {
    const open = join(stage.plexus.directory, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    const args = ["--disable-warning=ExperimentalWarning", join(dist, "plexusd.cjs"), "--socket", join(open, "plexus.sock")];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 });
    expect([status, stderr]).toEqual([1, expect.stringContaining("a sandbox process could replace the socket")]);
  });

  test("strict: everything or code 11 with the missing controls, with a daemon and without", async () => {
    const { diagnosis } = doctor("--isolation", "strict");
    const lacking = controls.filter((name) => diagnosis.controls.some((each) => each.name === name && !each.isSetUp));
    const expected = lacking.length === 0 ? /^0$/ : new RegExp(`^11 .*its jail lacks .*${lacking[0]}`);
    expect(await add("strict")).toMatch(expected);
    await daemon({ args: ["--isolation", "strict"] });
    await expect.poll(async () => (await ask("/readyz")).status).toBe(lacking.length === 0 ? 200 : 503);
    expect(await add("process", "/nowhere")).toMatch(expected);
  });

  test("a call whose configuration says strict is refused by a daemon without --isolation strict", async () => {
    await daemon();
    expect(await add("strict", "/nowhere")).toMatch(/^11 .*plexusd runs without --isolation strict/);
  });

  test("plexusctl doctor --prove-sandbox tries each control, and its status says whether the level holds", () => {
    const found = doctor();
    expect([found.status, found.diagnosis.holds]).toEqual([0, true]);
    expect(found.diagnosis.controls.filter(({ isSetUp, holds }) => isSetUp !== holds)).toEqual([]);
    const strict = doctor("--isolation", "strict");
    expect(strict.status).toBe(strict.diagnosis.controls.every(({ holds }) => holds) && canBecome(defaultUids) ? 0 : 1);
    const table = execFileSync(process.execPath, [join(dist, "plexusctl.cjs"), "doctor", "--help"], { encoding: "utf8" });
    expect(table).toContain("--prove-sandbox");
  });
});
