// What a daemon does on its own, by resident hands: real plugins, real attachments. The daemon is in this process, so that the test
// can have it make calls; its hands are the built ones.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Daemon } from "../../host/daemon/daemon.ts";
import { HandsGone } from "../../host/hands/hands.ts";
import { encodeFrame } from "../../host/hands/frames.ts";
import { encodeMessage } from "../../host/hands/message-frames.ts";
import { dist } from "../harness/plexus.ts";
import { installRecorder } from "../harness/recorder.ts";
import { startResidentHands, type TestResidentHands } from "../harness/resident-hands.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { missingForMixed, mixedInstallation, mixedNetwork, mixedSteps } from "./mixed-network.ts";
import { nothing, openStage, shown, type Attaching, type Stage } from "./stage.ts";

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "there is no other uid in this user namespace";

describe.skipIf(missingForMixed("resident hands"))("resident hands", () => {
  let stage: Stage;
  let daemon: Daemon;
  const warnings: string[] = [];
  const started: TestResidentHands[] = [];
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    daemon = await startedDaemon();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.stop()));
    await daemon.stop(1000);
    stage.dispose();
    warnings.length = 0;
  });

  const socket = (): string => join(stage.plexus.directory, "plexus.sock");

  async function startedDaemon(): Promise<Daemon> {
    const made = new Daemon({
      server: { socket: socket(), active: 1, waiting: 1, uids: [0, process.getuid?.() ?? 0], requestMs: 10_000 },
      delegates: {
        entry: join(dist, "brain", "guest-process.cjs"),
        warm: 1,
        most: 1,
        copies: join(stage.plexus.directory, "components"),
      },
      clusters: { nodeName: undefined, kubeconfig: undefined },
      telemetry: {
        log: {
          write: (level, _, text) => void (level === "warn" && warnings.push(text)),
          has: () => true,
          flush: () => true,
        },
        version: "",
        stateDirectory: stage.plexus.directory,
        collector: undefined,
      },
      endpoint: { socket: join(stage.plexus.directory, "status.sock"), uids: [0], address: undefined },
    });
    expect(await made.start()).toEqual({ ok: true, value: undefined });
    return made;
  }

  /** Starts them on the stage's node. */
  function hands(env: Readonly<Record<string, string>> = {}): TestResidentHands {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const one = startResidentHands({
      command: stage.entrance(),
      env: { PATH: path, CNI_PATH: stage.plexus.cniPath, PLEXUS_SOCKET: socket(), ...env },
    });
    started.push(one);
    return one;
  }
  const connected = (count: number): Promise<void> =>
    expect.poll(() => daemon.residentHands.count, { timeout: 10_000 }).toBe(count);

  /** The daemon's own call for an attachment. */
  function own(verb: string, { config, containerId, pod }: Attaching) {
    const variables = new Map([
      ["CNI_COMMAND", verb],
      ["CNI_CONTAINERID", containerId],
      ["CNI_NETNS", typeof pod === "string" ? pod : pod.path],
      ["CNI_IFNAME", "eth0"],
    ]);
    return daemon.serveOwn({ variables, stdin: Buffer.from(JSON.stringify(config)) });
  }
  const attaching = (containerId: string): Attaching => ({ config: mixedNetwork(stage), containerId, pod: stage.pod() });
  const done = { status: 0, stdout: "", stderr: "" };

  test("undo an attachment that nobody deletes: native and WASM steps, links, leases, journal", async () => {
    const each = attaching("left");
    await stage.succeed("ADD", each);
    stage.steps();
    hands();
    await connected(1);
    expect(await own("CHECK", each)).toEqual(done);
    expect(shown(stage.steps())).toEqual(mixedSteps.CHECK);
    expect(await own("DEL", each)).toEqual(done);
    expect(shown(stage.steps())).toEqual(mixedSteps.DEL);
    expect(stage.left()).toEqual(nothing);
  });

  test("are none: the daemon has nobody to do it by", async () => {
    expect(await own("DEL", attaching("nobody"))).toBeUndefined();
  });

  test("find plugins on their own CNI_PATH only, whatever the call says", async () => {
    const each = attaching("elsewhere");
    await stage.succeed("ADD", each);
    hands({ CNI_PATH: stage.plexus.state("no-plugins") });
    await connected(1);
    expect(JSON.parse(String((await own("DEL", each))?.stdout))).toMatchObject({
      msg: expect.stringContaining(stage.plexus.state("no-plugins")),
    });
    await stage.succeed("DEL", each);
    expect(stage.left()).toEqual(nothing);
  });

  test("take no place of a call: with one call at once, and one that waits, calls are served as before", async () => {
    hands();
    await connected(1);
    const version = { verb: "VERSION", env: { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" } };
    const answers = await Promise.all([stage.request(version), stage.request(version)]);
    expect(answers.map(({ status }) => status)).toEqual([0, 0]);
    expect(await daemon.stop(5000)).toBe(0);
  });

  test("come back to a daemon that was started again, and find it busy with nothing of theirs", async () => {
    const each = attaching("twice");
    await stage.succeed("ADD", each);
    const { pid } = hands();
    await connected(1);
    expect(await daemon.stop(1000)).toBe(0);
    daemon = await startedDaemon();
    await connected(1);
    expect(await own("DEL", each)).toEqual(done);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(stage.left()).toEqual(nothing);
  });

  test("killed amid a step reject what waits with HandsGone; others that came earlier take over", async () => {
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("DEL", { sleepMs: 30_000 }, 1);
    const each = { config: stage.network([{ type: "slow" }]), containerId: "cut", pod: stage.pod() };
    hands();
    await connected(1);
    const newest = hands();
    await connected(2);
    expect(await daemon.metrics.text()).toMatch(/^plexus_resident_hands 2$/m);
    const del = own("DEL", each);
    del.catch(() => undefined);
    await expect.poll(() => slow.calls().length, { timeout: 10_000 }).toBe(1);
    newest.signal("SIGKILL");
    await expect(del).rejects.toThrow(HandsGone);
    await connected(1);
    expect(await own("DEL", each)).toEqual(done);
    expect(stage.left()).toEqual(nothing);
  });

  test("are used newest first", async () => {
    const each = attaching("newest");
    await stage.succeed("ADD", each);
    hands({ CNI_PATH: stage.plexus.state("no-plugins") });
    await connected(1);
    hands();
    await connected(2);
    expect(await own("DEL", each)).toEqual(done);
    expect(stage.left()).toEqual(nothing);
  });

  test.skipIf(missing("resident hands of another uid", anotherUid))("A-10 of another uid are refused", async () => {
    chmodSync(stage.plexus.directory, 0o755);
    chmodSync(socket(), 0o666);
    const program = join(stage.plexus.directory, "as-nobody");
    const become = "exec setpriv --reuid=65534 --regid=65534 --clear-groups --";
    writeFileSync(program, `#!/bin/sh\n${become} ${join(stage.plexus.cniPath, "plexus")} "$@"\n`, { mode: 0o755 });
    started.push(startResidentHands({ command: program, env: { PATH: "/usr/bin:/bin", PLEXUS_SOCKET: socket() } }));
    await expect.poll(() => warnings.join()).toContain("uid 65534 called, which may not");
    expect(daemon.residentHands.count).toBe(0);
  });

  test.each([
    ["garbage", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["a second RESIDENT", Buffer.concat([resident(0), resident(0)])],
    ["RESIDENT on another channel", resident(7)],
    ["RESIDENT and then a call", Buffer.concat([resident(0), request(0)])],
    ["a nested call under nothing", Buffer.concat([resident(0), request(0x8000_0001)])],
    ["an answer to nothing", Buffer.concat([resident(0), frame(3, { kind: "content", errno: 0, content: new Uint8Array(0) })])],
  ])("that say %s are hung up on, and nothing of them stays", async (_, bytes) => {
    const rude = connect(socket());
    rude.on("error", () => undefined).resume();
    rude.write(bytes);
    await once(rude, "close");
    await connected(0);
    hands();
    await connected(1);
    const each = attaching("after");
    await stage.succeed("ADD", each);
    expect(await own("DEL", each)).toEqual(done);
  });

  test("cost 2 MiB of memory at most, with a connection and work done", async () => {
    const { pid } = hands();
    await connected(1);
    const each = attaching("small");
    await stage.succeed("ADD", each);
    expect(await own("DEL", each)).toEqual(done);
    const [, peakKiB] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    expect(Number(peakKiB)).toBeGreaterThan(0);
    expect(Number(peakKiB)).toBeLessThanOrEqual(2048);
  });
});

type Message = Parameters<typeof encodeMessage>[1];

function frame(channel: number, message: Message): Buffer {
  const encoded = encodeMessage(channel, message);
  const bytes = encoded.ok ? encodeFrame(encoded.value) : encoded;
  if (!bytes.ok) throw new Error(bytes.fault.msg);
  return Buffer.from(bytes.value);
}

function resident(channel: number): Buffer {
  return frame(channel, { kind: "resident", environment: new Map([["CNI_PATH", "/nowhere"]]) });
}

function request(channel: number): Buffer {
  return frame(channel, { kind: "request", name: "x", environment: new Map(), stdin: new Uint8Array(0), under: 5 });
}
