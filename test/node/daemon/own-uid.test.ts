// A daemon with a uid of its own (`--uid`), beside native plugins and one-shot engines, which are root: it needs no right of root for what it does on a node.

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork, shaperStep } from "../../lab/mixed-network.ts";
import { leases } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";

const uid = 1_999_999_999;
const ownUid: Requirement = () => (canBecome({ first: uid, count: 2 }) ? undefined : "this user namespace does not map the uid");

describe.skipIf(missingForMixed("a daemon with a uid of its own") || missing("a daemon with a uid of its own", ownUid))(
  "a daemon with a uid of its own",
  () => {
    let stage: Stage;
    const daemons: TestDaemon[] = [];
    const agents: TestAgent[] = [];
    beforeEach(() => {
      stage = openStage(mixedInstallation);
      // As /run and /var/lib/cni: every user passes through.
      chmodSync(stage.plexus.directory, 0o755);
    });
    afterEach(async () => {
      await Promise.all(agents.splice(0).map(({ stop }) => stop()));
      await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
      stage.dispose();
    });

    const socketOf = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
    const state = (): string => stage.plexus.state("cni");

    async function daemon(...args: readonly string[]): Promise<TestDaemon> {
      mkdirSync(stage.leases, { recursive: true });
      mkdirSync(state(), { recursive: true });
      const started = await startDaemon({
        socket: socketOf(),
        args: ["--state-dir", state(), "--reconcile-interval", "1", "--reconcile-grace", "1", ...args],
        // As the chart's container, which has /var/lib/cni.
        confined: { writable: [dirname(state())] },
      });
      daemons.push(started);
      return started;
    }
    const ownDaemon = (...args: readonly string[]): Promise<TestDaemon> =>
      daemon("--uid", String(uid), "--share-dir", stage.leases, ...args);
    const stopped = async (): Promise<void> => void (await Promise.all(daemons.splice(0).map(({ stop }) => stop())));

    const configOf = (plugins: readonly object[]): object => stage.network(plugins, { trace: undefined });
    const native = (): object =>
      configOf([bridgeStep({ ipam: { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases } })]);
    const call = (verb: string, { config, containerId, pod }: Attaching, env: Record<string, string>): Promise<Answer> =>
      stage.request({ verb, config, containerId, ifname: "eth0", netns: typeof pod === "string" ? pod : pod.path, env });
    /** A call that the daemon serves, and one that a one-shot engine serves. */
    const served = async (verb: string, each: Attaching): Promise<void> =>
      expect(await call(verb, each, { PLEXUS_SOCKET: socketOf(), PLEXUS_HOME: "/nowhere" })).toMatchObject({
        status: 0,
        stderr: "",
      });
    const oneShot = async (verb: string, each: Attaching): Promise<void> =>
      expect(await call(verb, each, { PLEXUS_SOCKET: "/nowhere/plexus.sock" })).toMatchObject({ status: 0, stderr: "" });

    test("has that user and group, and root's directories stay root's", async () => {
      const { pid, stderr } = await ownDaemon();
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(new RegExp(`^Uid:(?:\\t${uid}){4}$`, "mu"));
      expect(status).toMatch(new RegExp(`^Gid:(?:\\t${uid}){4}$`, "mu"));
      expect(status).toMatch(/^Groups:\s*$/mu);
      for (const path of [state(), stage.leases, dirname(socketOf())]) {
        const { uid: owner, gid, mode } = statSync(path);
        expect([path, owner, gid, mode & 0o2070]).toEqual([path, 0, uid, 0o2070]);
      }
      expect(stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test.each([
      ["", () => []],
      [", with copies of a zygote as sandbox processes", () => ["--sandbox-start", "copy"]],
      [", with writable paths by Landlock", () => ["--write-to", stage.leases]],
    ])(
      "attaches, checks and detaches with native plugins and with components, whose leases lie in one directory%s",
      async (_, args) => {
        const { stderr } = await ownDaemon(...args());
        const attached = [native(), { ...mixedNetwork(stage), trace: undefined }].map((config, index): Attaching => ({
          config,
          containerId: `pod${index}`,
          pod: stage.pod(),
        }));
        for (const each of attached) await served("ADD", each);
        expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.3"]);
        for (const each of attached) await served("CHECK", each);
        for (const each of attached) await served("DEL", each);
        expect(leases(stage.leases)).toEqual([]);
        expect(readdirSync(join(state(), "journal"))).toEqual([]);
        expect(stderr()).not.toMatch(/EACCES|EPERM/u);
      },
    );

    test("goes on with what a daemon of root and one-shot engines attached, and they with what it attached", async () => {
      const [first, second, third] = [1, 2, 3].map((n): Attaching => ({
        config: native(),
        containerId: `pod${n}`,
        pod: stage.pod(),
      }));
      if (first === undefined || second === undefined || third === undefined) throw new Error("three attachments");
      await daemon();
      await served("ADD", first);
      await stopped();
      const { stderr } = await ownDaemon();
      await oneShot("ADD", second);
      await served("ADD", third);
      for (const each of [first, second, third]) await served("CHECK", each);
      for (const each of [first, second]) await served("DEL", each);
      await oneShot("CHECK", third);
      await oneShot("DEL", third);
      expect(leases(stage.leases)).toEqual([]);
      expect(readdirSync(join(state(), "journal"))).toEqual([]);
      expect(stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test("leaves to a daemon of root without CAP_DAC_OVERRIDE what it attached, also in a state directory that only root could enter", async () => {
      chmodSync(dirname(state()), 0o700);
      const { stderr } = await ownDaemon();
      const each: Attaching = { config: { ...mixedNetwork(stage), trace: undefined }, containerId: "pod", pod: stage.pod() };
      await served("ADD", each);
      expect(statSync(dirname(state()))).toMatchObject({ uid: 0, gid: uid });
      expect(statSync(dirname(state())).mode & 0o7777).toBe(0o710);
      await stopped();
      const after = await daemon();
      expect(readFileSync(`/proc/${after.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:(?:\\t0){4}$`, "mu"));
      await served("CHECK", each);
      await served("DEL", each);
      expect(leases(stage.leases)).toEqual([]);
      expect(readdirSync(join(state(), "journal"))).toEqual([]);
      for (const text of [stderr(), after.stderr()]) expect(text).not.toMatch(/EACCES|EPERM/u);
    });

    test("frees in rounds what native host-local, which is root, left of pods that are gone", async () => {
      const { stderr } = await ownDaemon();
      agents.push(
        startAgent({
          command: stage.entrance(),
          env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: stage.plexus.cniPath, PLEXUS_SOCKET: socketOf() },
        }),
      );
      const each: Attaching & { pod: ReturnType<Stage["pod"]> } = { config: native(), containerId: "gone", pod: stage.pod() };
      await served("ADD", each);
      const lease = join(stage.leases, "pods", "10.10.0.2");
      // As host-local 1.4 and later make it.
      chmodSync(lease, 0o600);
      expect(statSync(lease)).toMatchObject({ uid: 0 });
      // A power loss left a lease without an owner.
      writeFileSync(join(stage.leases, "pods", "10.10.0.9"), "", { mode: 0o600 });
      each.pod.dispose();
      await expect.poll(() => leases(stage.leases), { interval: 200 }).toEqual([]);
      expect(stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test("answers STATUS and GC, and detaches a component's pod beside leases and a directory that root alone may use", async () => {
      const { stderr } = await ownDaemon();
      const env = { PLEXUS_SOCKET: socketOf(), PLEXUS_HOME: "/nowhere" };
      // The reference bridge of this machine may not know the verbs of CNI 1.1.
      const status = stage.network([shaperStep], { cniVersion: "1.1.0", trace: undefined });
      for (const [verb, config] of [
        ["STATUS", status],
        ["GC", { ...status, "cni.dev/valid-attachments": [] }],
      ] as const)
        expect([verb, await stage.request({ verb, config, env })]).toMatchObject([verb, { status: 0, stderr: "" }]);
      const network = join(stage.leases, "pods");
      mkdirSync(network);
      chmodSync(network, 0o755);
      writeFileSync(join(network, "10.10.0.2"), "another\r\neth0", { mode: 0o600 });
      writeFileSync(join(network, "last_reserved_ip.0"), "10.10.0.5", { mode: 0o600 });
      const each: Attaching = { config: { ...mixedNetwork(stage), trace: undefined }, containerId: "pod", pod: stage.pod() };
      await served("ADD", each);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "pods/10.10.0.6"]);
      await served("DEL", each);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
      expect(stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test("does not start where its user can't be changed, and never as root", async () => {
      const program = { socket: socketOf(), args: ["--state-dir", state(), "--uid", String(uid)] };
      const powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
      await expect(startDaemon({ ...program, through: powerless })).rejects.toThrow("(--uid) needs CAP_SETGID");
      await expect(startDaemon({ ...program, env: { PLEXUS_LAUNCH_SERVER: "1" }, through: powerless })).rejects.toThrow(
        "(--uid) needs CAP_SETGID",
      );
      await expect(startDaemon({ ...program, args: ["--uid", "2000000005"] })).rejects.toThrow(
        "lies among the uids of sandbox processes",
      );
    });
  },
);
