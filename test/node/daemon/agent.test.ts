// Calls that a daemon starts itself and carries out through an agent, with real plugins and attachments. The daemon runs in this process,
// so that a test can make its calls. The shim and the agent are the built executable.

import { defaultJail } from "../../../host/sandbox/launcher/jail.ts";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Daemon } from "../../../host/programs/plexusd/daemon.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import { encodeFrame } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-codec.ts";
import { dist } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { missingForMixed, mixedInstallation, mixedNetwork, mixedSteps } from "../../lab/mixed-network.ts";
import { nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "this user namespace maps no other uid";

describe.skipIf(missingForMixed("agent"))("an agent", () => {
  let stage: Stage;
  let daemon: Daemon;
  const warnings: string[] = [];
  const started: TestAgent[] = [];
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    daemon = await startedDaemon();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((agent) => agent.stop()));
    await daemon.stop(1000);
    stage.dispose();
    warnings.length = 0;
  });

  const socket = (): string => join(stage.plexus.directory, "plexus.sock");

  async function startedDaemon(): Promise<Daemon> {
    const made = new Daemon({
      calls: { socket: socket(), uids: [0, process.getuid?.() ?? 0] },
      queue: { active: 1, waiting: 1 },
      delegates: {
        entry: join(dist, "engine", "guest-process.cjs"),
        isolation: "process",
        jail: defaultJail(),
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
      status: { socket: join(stage.plexus.directory, "status.sock"), uids: [0] },
      metricsListen: undefined,
      residents: [],
    });
    expect(await made.start()).toEqual({ ok: true, value: undefined });
    return made;
  }

  /** Starts an agent in the node's network namespace. */
  function startNodeAgent(env: Readonly<Record<string, string>> = {}): TestAgent {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const agent = startAgent({
      command: stage.entrance(),
      env: {
        PATH: path,
        CNI_PATH: stage.plexus.cniPath,
        PLEXUS_SOCKET: socket(),
        ...env,
      },
    });
    started.push(agent);
    return agent;
  }
  const connected = (count: number): Promise<void> => expect.poll(() => daemon.calls.agents.count).toBe(count);

  /** A call that the daemon itself starts for an attachment. */
  function serveOwn(verb: string, { config, containerId, pod }: Attaching) {
    const variables = new Map([
      ["CNI_COMMAND", verb],
      ["CNI_CONTAINERID", containerId],
      ["CNI_NETNS", typeof pod === "string" ? pod : pod.path],
      ["CNI_IFNAME", "eth0"],
    ]);
    return daemon.calls.serveInternal({ variables, stdin: Buffer.from(JSON.stringify(config)) });
  }
  const attaching = (containerId: string): Attaching => ({ config: mixedNetwork(stage), containerId, pod: stage.pod() });
  const done = { status: 0, stdout: "", stderr: "" };

  test("undoes an attachment without a DEL of the runtime: native and WASM steps, links, leases, journal", async () => {
    const attachment = attaching("left");
    await stage.succeed("ADD", attachment);
    stage.steps();
    startNodeAgent();
    await connected(1);
    expect(await serveOwn("CHECK", attachment)).toEqual(done);
    expect(shown(stage.steps())).toEqual(mixedSteps.CHECK);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
    expect(shown(stage.steps())).toEqual(mixedSteps.DEL);
    expect(stage.left()).toEqual(nothing);
  });

  test("is needed: a daemon without an agent refuses to start a call", async () => {
    expect(await serveOwn("DEL", attaching("nobody"))).toBeUndefined();
  });

  test("finds plugins on its own CNI_PATH only, whatever the call's CNI_PATH is", async () => {
    const attachment = attaching("elsewhere");
    await stage.succeed("ADD", attachment);
    startNodeAgent({ CNI_PATH: stage.plexus.state("no-plugins") });
    await connected(1);
    expect(JSON.parse(String((await serveOwn("DEL", attachment))?.stdout))).toMatchObject({
      msg: expect.stringContaining(stage.plexus.state("no-plugins")),
    });
    await stage.succeed("DEL", attachment);
    expect(stage.left()).toEqual(nothing);
  });

  test("occupies no slot of a call: a daemon with one active and one waiting call still serves both", async () => {
    startNodeAgent();
    await connected(1);
    const version = { verb: "VERSION", env: { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" } };
    const answers = await Promise.all([stage.request(version), stage.request(version)]);
    expect(answers.map(({ status }) => status)).toEqual([0, 0]);
    expect(await daemon.stop(60_000)).toBe(0);
  });

  test("reconnects to a restarted daemon, which then serves its own calls again", async () => {
    const attachment = attaching("twice");
    await stage.succeed("ADD", attachment);
    const { pid } = startNodeAgent();
    await connected(1);
    expect(await daemon.stop(1000)).toBe(0);
    daemon = await startedDaemon();
    await connected(1);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(stage.left()).toEqual(nothing);
  });

  test("rejects the daemon's call with ShimGone when it is killed during a step; an earlier agent serves the next call", async () => {
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.hold("DEL", 1);
    const attachment = { config: stage.network([{ type: "slow" }]), containerId: "cut", pod: stage.pod() };
    startNodeAgent();
    await connected(1);
    const newest = startNodeAgent();
    await connected(2);
    expect(await daemon.metrics.text()).toMatch(/^plexus_agents 2$/m);
    const del = serveOwn("DEL", attachment);
    del.catch(() => undefined);
    await expect.poll(() => slow.calls().length).toBe(1);
    newest.signal("SIGKILL");
    await expect(del).rejects.toThrow(ShimGone);
    await connected(1);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
    expect(stage.left()).toEqual(nothing);
  });

  test("that connected last serves the daemon's calls", async () => {
    const attachment = attaching("newest");
    await stage.succeed("ADD", attachment);
    startNodeAgent({ CNI_PATH: stage.plexus.state("no-plugins") });
    await connected(1);
    startNodeAgent();
    await connected(2);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
    expect(stage.left()).toEqual(nothing);
  });

  test.skipIf(missing("an agent of another uid", anotherUid))("A-10 of another uid is refused", async () => {
    chmodSync(stage.plexus.directory, 0o755);
    chmodSync(socket(), 0o666);
    const program = join(stage.plexus.directory, "as-nobody");
    const become = "exec setpriv --reuid=65534 --regid=65534 --clear-groups --";
    writeFileSync(program, `#!/bin/sh\n${become} ${join(stage.plexus.cniPath, "plexus")} "$@"\n`, { mode: 0o755 });
    started.push(startAgent({ command: program, env: { PATH: "/usr/bin:/bin", PLEXUS_SOCKET: socket() } }));
    await expect.poll(() => warnings.join()).toContain("refused uid 65534");
    expect(daemon.calls.agents.count).toBe(0);
  });

  test.each([
    ["garbage", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["a second AGENT", Buffer.concat([agentGreeting(0), agentGreeting(0)])],
    ["AGENT on another channel", agentGreeting(7)],
    ["AGENT and then a call", Buffer.concat([agentGreeting(0), requestFrame(0)])],
    ["a nested call without its parent call", Buffer.concat([agentGreeting(0), requestFrame(0x8000_0001)])],
    [
      "an answer without an effect",
      Buffer.concat([agentGreeting(0), frame(3, { kind: "content", errno: 0, content: new Uint8Array(0) })]),
    ],
  ])("that sends %s loses its connection, and a later agent works", async (_, bytes) => {
    const invalid = connect(socket());
    invalid.on("error", () => undefined).resume();
    invalid.write(bytes);
    await once(invalid, "close");
    await connected(0);
    startNodeAgent();
    await connected(1);
    const attachment = attaching("after");
    await stage.succeed("ADD", attachment);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
  });

  test("FI-26: says once that the daemon speaks another version, not at each of its tries", async () => {
    const other = join(stage.plexus.directory, "other.sock");
    let connections = 0;
    // Each frame's header has the version in its fifth byte.
    const server = createServer((connection) => {
      connections += 1;
      const greeting = agentGreeting(0);
      greeting[4] = 250;
      connection.on("error", () => undefined).end(greeting);
    });
    server.listen(other);
    await once(server, "listening");
    try {
      const agent = startNodeAgent({ PLEXUS_SOCKET: other });
      await expect.poll(() => connections).toBeGreaterThanOrEqual(3);
      expect(agent.stderr().match(/does not allow/g)).toHaveLength(1);
    } finally {
      server.close();
    }
  });

  test("uses at most 2 MiB of memory after it served a call", async () => {
    const { pid } = startNodeAgent();
    await connected(1);
    const attachment = attaching("small");
    await stage.succeed("ADD", attachment);
    expect(await serveOwn("DEL", attachment)).toEqual(done);
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

function agentGreeting(channel: number): Buffer {
  return frame(channel, { kind: "agent", environment: new Map([["CNI_PATH", "/nowhere"]]) });
}

function requestFrame(channel: number): Buffer {
  return frame(channel, { kind: "request", name: "x", environment: new Map(), stdin: new Uint8Array(0), under: 5 });
}
