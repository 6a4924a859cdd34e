// A daemon that an attacker has taken over, against the real shim and the real agent. The attacker sends any frame; the shim is root.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { type AskKind, askKinds } from "../../../host/protocol/messages.ts";
import { askKeyBytes } from "../../../host/protocol/network-fields.ts";
import { type PolicyShim, shimWithPolicy } from "../../node/shim/testing/policy-shim.ts";
import { callWith, EngineSide, json, type ShimAnswer, startShim } from "../../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../node/shim/testing/workshop.ts";
import {
  batch,
  deleteTable,
  flushTable,
  newChain,
  newTable,
  tablesRequest,
} from "../../../host/capabilities/firewall/nf-tables.ts";
import type { Table } from "../../../host/capabilities/firewall/nf-request.ts";
import { EINVAL, EKEYREJECTED, ENOENT, EXDEV } from "../../../host/system/errno.ts";
import { attribute, nested, u32Attribute, encodeRequests, type NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { concat, cString } from "../../../host/system/netlink/bytes.ts";
import { SECOND_NAMESPACE } from "../../../host/system/netlink/exchange.ts";
import {
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  ifinfomsg,
  NLM_F_CREATE,
  NLM_F_EXCL,
  RTM_DELLINK,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "../../../host/system/netlink/link-attributes.ts";
import { linksRequest } from "../../../host/system/netlink/link.ts";
import { linkRename, nameAddition } from "../../../host/system/netlink/link-change.ts";
import { linkMove } from "../../../host/system/netlink/link-move.ts";
import { vfMessages } from "../../../host/system/netlink/virtual-function.ts";
import { startAgent } from "../../lab/agent.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { mappedId, missing, type Requirement, tunDevice } from "../../lab/requires.ts";

const root: Requirement = () => (process.geteuid?.() === 0 ? undefined : "only root can make a file that belongs to root");
/** A question without packets and without time, about the loopback interface. */
const question = (answers: AskKind) =>
  ({ index: 1, answers, keys: [new Uint8Array(askKeyBytes[answers])], packets: [], deadlineMs: 0, maxAnswers: 1 }) as const;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

/** Runs `script` as the daemon of one call. */
function attack(script: (engine: EngineSide) => Promise<void>, shim = shop.shim, config: object = {}): Promise<ShimAnswer> {
  const stdin = JSON.stringify({ runDir: join(shop.directory, "run"), ...config });
  return callWith(script, { shim, env: { CNI_PATH: shop.cniPath }, stdin });
}

/** Runs `script` as the daemon of an agent; answers the agent's stderr. */
async function attackAgent(
  script: (next: () => Promise<EngineSide>, stderr: () => string) => Promise<void>,
  shim = shop.shim,
  cniPath = shop.cniPath,
): Promise<string> {
  const socket = join(shop.directory, "agent.sock");
  rmSync(socket, { force: true });
  const server = createServer();
  const open = new Set<Socket>();
  server.on("connection", (connection) => open.add(connection));
  server.listen(socket);
  await once(server, "listening");
  const env = {
    CNI_PATH: cniPath,
    PLEXUS_SOCKET: socket,
    PATH: "/bin:/usr/bin",
  };
  const agent = startAgent({ command: shim, env });
  try {
    await script(async () => {
      const [connection] = (await once(server, "connection")) as [Socket];
      const engine = new EngineSide(undefined, connection);
      await engine.agent();
      return engine;
    }, agent.stderr);
  } finally {
    await agent.stop();
    for (const connection of open) connection.destroy();
    server.close();
  }
  return agent.stderr();
}

/** A number as a field of four bytes. */
function le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const lengthAnd = (value: string): Buffer => Buffer.concat([le(Buffer.byteLength(value)), Buffer.from(value)]);

/** EXEC with this variable. The project's encoder refuses an empty name, so the frame is made by hand. */
function execWith(name: string): Uint8Array {
  const fields = [
    lengthAnd("marks"),
    lengthAnd(`${name}=/tmp/attacker\0`),
    lengthAnd("{}"),
    le(5000),
    le(100),
    le(100),
    lengthAnd(""),
  ];
  const payload = Buffer.concat(fields);
  return Buffer.concat([le(payload.length), Buffer.from([PROTOCOL_VERSION, 17, 0, 0]), le(7), payload]);
}

/** The shim's answer to an engine that sends `act` and never replies. */
async function callWithoutReply(act: (engine: EngineSide) => void): Promise<ShimAnswer> {
  const answers: ShimAnswer[] = [];
  await attack(async (engine) => {
    await engine.request();
    act(engine);
    answers.push(await engine.shim.answer);
  });
  const [answer] = answers;
  if (answer === undefined) throw new Error("the shim gave no answer");
  return answer;
}

const linkInfo = (kind: string, ...data: readonly Uint8Array[]): Uint8Array =>
  nested(IFLA_LINKINFO, [attribute(IFLA_INFO_KIND, Buffer.from(kind)), nested(IFLA_INFO_DATA, data)]);

const newLink = (name: string, kind: string, ...more: readonly Uint8Array[]): NetlinkRequest => ({
  type: RTM_NEWLINK,
  flags: NLM_F_CREATE | NLM_F_EXCL,
  body: concat([ifinfomsg(), attribute(IFLA_IFNAME, cString(name)), linkInfo(kind), ...more]),
});

const indexOf = (where: PodNamespace, name: string): number => {
  const [link] = JSON.parse(where.exec(["ip", "-j", "link", "show", "dev", name]).stdout) as { readonly ifindex: number }[];
  return link?.ifindex ?? 0;
};
const nodeLinks = (): readonly string[] => readdirSync("/sys/class/net");

/** Settings to read. */
const read = (...keys: readonly string[]) => keys.map((key) => ({ key, value: "" }));

const named = (family: Table["family"], name: string): Table => ({ family, name });

describe("sets the environment of root's plugins", () => {
  /** Variables with which the loader, a C library, Go, Node, a shell or the plugin itself would run the attacker's code or files. */
  const forbidden = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "GODEBUG",
    "GOTRACEBACK",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "PATH",
    "HOME",
    "TMPDIR",
    "CNI_PATH",
    "PLEXUS_NESTED_CALLS",
    "PLEXUS_SOCKET",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "CNI",
    "",
  ];
  let mark = "";
  beforeEach(() => {
    mark = join(shop.directory, "ran");
    rmSync(mark, { force: true });
    shop.script("marks", `: > ${mark}`);
  });

  test.each(forbidden)("%j: the shim refuses the frame and starts no plugin", async (name) => {
    const answer = await callWithoutReply((engine) => engine.raw(execWith(name)));
    expect(answer.status).toBe(1);
    const msg = expect.stringContaining(`EXEC sets the variable ${name}, which only the runtime may set`);
    expect(json(answer.stdout)).toMatchObject({ code: 5, msg });
    expect(existsSync(mark)).toBe(false);
  });

  test("the agent refuses the frame, too, and connects again", async () => {
    const stderr = await attackAgent(async (next) => {
      const first = await next();
      first.raw(execWith("LD_PRELOAD"));
      const again = await next();
      expect((await again.exec({ type: "marks" })).outcome).toEqual({ kind: "exited", status: 0 });
    });
    expect(stderr).toContain("EXEC sets the variable LD_PRELOAD, which only the runtime may set");
  });

  test("the agent's log gets the name in one line, without characters that control a terminal", async () => {
    const stderr = await attackAgent(async (next) => {
      (await next()).raw(execWith("LD\nplexus agent: all is well\u001b[2J\u009b"));
      await next();
    });
    expect(stderr).toContain("EXEC sets the variable LD?plexus agent: all is well?[2J??, which only");
    expect(stderr).toMatch(/^[ -~\n]*$/u);
  });
});

describe("names a directory for nested calls", () => {
  test("that is another directory of root: the shim neither empties nor makes it", async () => {
    const victim = join(shop.directory, "victim");
    mkdirSync(victim, { mode: 0o700 });
    symlinkSync("/kept", join(victim, "a-link"));
    shop.component("some-delegate");
    shop.script("nothing", "exit 0");
    const made = join(shop.directory, "made");
    await attack(async (engine) => {
      for (const nestedCallDirectory of [victim, "../victim", "/etc/../etc", made, "../made", "x".repeat(16)]) {
        const { outcome } = await engine.exec({ type: "nothing", nestedCallDirectory });
        expect([nestedCallDirectory, outcome]).toEqual([nestedCallDirectory, { kind: "not-startable", errno: EINVAL }]);
      }
    });
    expect(readlinkSync(join(victim, "a-link"))).toBe("/kept");
    expect(existsSync(made)).toBe(false);
  });
});

/** Runs a command as the daemon is: root without a capability. */
const asDaemon = (...command: readonly string[]) =>
  spawnSync("setpriv", ["--bounding-set=-all", "--inh-caps=-all", ...command], { encoding: "utf8" });

/** setpriv(1) of a root that has capabilities: a daemon that lacks them is then a weaker process than the shim. */
const weaker: Requirement = () =>
  process.geteuid?.() === 0 && asDaemon("true").status === 0 ? undefined : "needs root and setpriv(1), of util-linux";

/** The run directory, in which the daemon writes. */
const runDirectory = (): string => join(shop.directory, "run");
/** The file that an attacker's program makes. */
const ran = (): string => join(shop.directory, "ran-as-root");

describe.skipIf(missing("a daemon with fewer rights than the shim", weaker))("changes what root's plugins execute", () => {
  const name = "0123456789abcdef";
  const exec = { environment: new Map([["CNI_COMMAND", "ADD"]]), nestedCallDirectory: name };
  beforeAll(() => {
    shop.component("wasm-ipam");
    // As bridge does: the first plugin of this name on CNI_PATH. The call of a component before it tells the attacker when to act.
    const find = 'IFS=:; for d in $CNI_PATH; do if [ -x "$d/$1" ]; then "$d/$1" </dev/null; return; fi; done';
    shop.script("bridge", `call() { ${find}; }\ncall wasm-ipam\ncall host-local`);
    shop.script("host-local", "echo the real host-local");
  });
  beforeEach(() => rmSync(ran(), { force: true }));

  test("FI-01: a link in a directory on the plugin's CNI_PATH: no directory there is one that the daemon can write or enter", async () => {
    const program = join(shop.directory, "attackers-program");
    writeFileSync(program, `#!/bin/sh\n: > ${ran()}\n`, { mode: 0o755 });
    mkdirSync(runDirectory(), { recursive: true, mode: 0o700 });
    await attack(async (engine) => {
      const bridge = engine.exec({ type: "bridge", ...exec });
      const { channel, request } = await engine.nested();
      const places = (request.environment.get("CNI_PATH") ?? "").split(":").filter((each) => each !== shop.cniPath);
      expect(places).toHaveLength(1);
      for (const place of [...places, join(runDirectory(), name)]) {
        expect(asDaemon("ln", "-s", program, join(place, "host-local")).status).not.toBe(0);
        expect(asDaemon("ls", `${place}/`).status).not.toBe(0);
      }
      engine.reply({}, channel);
      expect(text((await bridge).stdout)).toBe("the real host-local\n");
    });
    expect(existsSync(ran())).toBe(false);
    expect(readdirSync(runDirectory())).toEqual([]);
  });

  test("FI-01: the socket for nested calls: the daemon can neither replace it nor reach it", async () => {
    await attack(async (engine) => {
      const bridge = engine.exec({ type: "bridge", ...exec });
      const { channel, request } = await engine.nested();
      const socket = request.environment.get("PLEXUS_NESTED_CALLS") ?? "";
      expect(socket.endsWith(`/${name}/.sock`)).toBe(true);
      expect(asDaemon("rm", "-f", "--", socket).status).not.toBe(0);
      const connecting = `require("node:net").connect(${JSON.stringify(socket)}).on("error", (error) => (console.log(error.code), process.exit(3)))`;
      expect(asDaemon(process.execPath, "-e", connecting)).toMatchObject({ status: 3, stdout: "EACCES\n" });
      engine.reply({}, channel);
      await bridge;
    });
  });

  test("FI-01: a listener that did not execute the nested shim gets no request", async () => {
    const socket = join(shop.directory, "foreign.sock");
    const serving = `require("node:net").createServer((peer) => peer.on("data", () => console.log("request"))).listen(${JSON.stringify(socket)}, () => console.log("listens"))`;
    const listener = spawn(process.execPath, ["-e", serving], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      let output = "";
      listener.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await expect.poll(() => output, { timeout: 60_000 }).toBe("listens\n");
      const { status, stdout } = await startShim({ shim: shop.shim, env: { PLEXUS_NESTED_CALLS: socket } }).answer;
      expect([status, json(stdout)]).toEqual([
        1,
        expect.objectContaining({ code: 11, msg: expect.stringContaining("no process that called this one listens there") }),
      ]);
      expect(output).toBe("listens\n");
    } finally {
      const ended = once(listener, "close");
      listener.kill("SIGKILL");
      await ended;
    }
  });
});

/** The nested shim's answer to a caller (this process) that sends `act` after its REQUEST. */
async function answerTo(act: (engine: EngineSide) => void, shim = shop.shim): Promise<ShimAnswer> {
  const socket = join(shop.directory, "nested.sock");
  const server = createServer();
  server.listen(socket);
  await once(server, "listening");
  const connected = once(server, "connection");
  const nestedShim = startShim({ shim, env: { CNI_PATH: shop.cniPath, PLEXUS_NESTED_CALLS: socket } });
  try {
    const first = await Promise.race([connected, nestedShim.answer]);
    if (!Array.isArray(first)) return first;
    const engine = new EngineSide(nestedShim, first[0] as Socket);
    await engine.request();
    act(engine);
    return await nestedShim.answer;
  } finally {
    server.close();
  }
}

describe("answers a nested call", () => {
  test.each<[string, (engine: EngineSide) => void]>([
    ["EXEC", (engine) => void engine.exec({ type: "marks" }).catch(() => undefined)],
    ["FIND", (engine) => void engine.find("marks").catch(() => undefined)],
    ["SYSCTL", (engine) => void engine.sysctl({ path: "", settings: read("net/ipv4/ip_forward") }).catch(() => undefined)],
    [
      "NETLINK",
      (engine) =>
        void engine.netlink({ path: "", request: encodeRequests([linksRequest]), deadlineMs: 60_000 }).catch(() => undefined),
    ],
    ["WELCOME", (engine) => engine.send(0, { kind: "welcome" })],
  ])("FI-01: with %s: the nested shim carries out nothing", async (_, act) => {
    const mark = join(shop.directory, "nested-ran");
    shop.script("marks", `: > ${mark}`);
    const answer = await answerTo(act);
    expect([answer.status, json(answer.stdout)]).toEqual([
      1,
      expect.objectContaining({ code: 5, msg: expect.stringContaining("a nested call gets nothing but a REPLY") }),
    ]);
    expect(existsSync(mark)).toBe(false);
  });

  test("with a REPLY: it is the call's answer", async () => {
    const answer = await answerTo((engine) => engine.reply({ status: 3, stdout: "{}" }));
    expect(answer).toMatchObject({ status: 3, stdout: "{}" });
  });
});

describe("names a file as a network namespace", () => {
  test("that is a pipe or another kind of namespace: the shim doesn't open it", async () => {
    const pipe = join(shop.directory, "pipe");
    const opened = join(shop.directory, "opened");
    spawnSync("mkfifo", [pipe]);
    // The writer waits until a process opens the pipe for reading.
    const writer = spawn("/bin/sh", ["-c", `exec 3>${pipe}; : > ${opened}`]);
    const request = encodeRequests([linksRequest]);
    await attack(async (engine) => {
      for (const path of [pipe, "/dev/null", "/etc/passwd", "/", "/proc/self/ns/mnt", "/proc/self/ns/user"]) {
        const second = await engine.netlink({ path: "", second: path, request, deadlineMs: 60_000, allowsOwn: true });
        expect([path, second.sent]).toEqual([path, path.startsWith("/proc")]);
        for (const answer of [
          await engine.netlink({ path, request, deadlineMs: 60_000, allowsOwn: true }),
          await engine.sysctl({ path, settings: [{ key: "net/ipv4/ip_forward", value: "" }] }),
          await engine.packet({ path, index: 1, packets: [] }),
          await engine.tap({ path, name: "tap0", multiQueue: false }),
          await engine.ask({ path, ...question("arp") }),
        ])
          expect([path, answer]).toEqual([path, expect.objectContaining({ errno: EINVAL, sent: false })]);
      }
    });
    await setTimeout(100);
    expect(existsSync(opened)).toBe(false);
    const ended = once(writer, "close");
    writer.kill("SIGKILL");
    await ended;
  });

  test("that is the node's: packets, questions and taps are for pods alone", async () => {
    await attack(async (engine) => {
      expect(await engine.packet({ path: "", index: 1, packets: [] })).toMatchObject({ errno: EXDEV, sent: false });
      for (const answers of askKinds)
        expect(await engine.ask({ path: "", ...question(answers) })).toMatchObject({ errno: EXDEV, sent: false });
      expect(await engine.tap({ path: "", name: "tapx", multiQueue: false })).toMatchObject({ errno: EXDEV, sent: false });
    });
    expect(readdirSync("/sys/class/net")).not.toContain("tapx");
  });
});

/** The answer to a call, which must not have reached the daemon. */
async function unreached(shim: string): Promise<ShimAnswer> {
  const socket = join(shop.directory, "daemon.sock");
  let connections = 0;
  const server = createServer((connection) => {
    connections += 1;
    connection.destroy();
  });
  server.listen(socket);
  await once(server, "listening");
  try {
    const answer = await startShim({ shim, env: { PLEXUS_SOCKET: socket, CNI_PATH: shop.cniPath } }).answer;
    expect(connections).toBe(0);
    return answer;
  } finally {
    server.close();
  }
}

describe.skipIf(missing("the node's policy", root))("meets the policy of the node", () => {
  let place = "";
  let file = "";
  let bounded = "";
  let made: PolicyShim | undefined;
  beforeAll(async () => {
    made = await shimWithPolicy(shop.directory, "taken-over-daemon");
    ({ path: bounded, file } = made);
    place = dirname(file);
  });
  afterAll(() => made?.dispose());
  afterEach(() => {
    rmSync(file, { recursive: true, force: true });
    chmodSync(place, 0o755);
  });
  const policy = (content: unknown, mode = 0o644): void => {
    // At once: an agent that waits for a correct policy reads the file again and again.
    writeFileSync(`${file}.new`, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
    chmodSync(`${file}.new`, mode);
    renameSync(`${file}.new`, file);
  };
  const attackBounded = (script: (engine: EngineSide) => Promise<void>): Promise<ShimAnswer> => attack(script, bounded);

  test("the example in the how-to page is a valid policy, and sets the bounds of the page", async () => {
    const page = readFileSync(new URL("../../../docs/how-to/bound-the-daemon.md", import.meta.url), "utf8");
    const [, example = ""] = /policy\.json <<'EOF'\n(\{[^]*?\n\})\nEOF/.exec(page) ?? [];
    policy(example.replace("/opt/cni/bin", shop.cniPath));
    shop.script("host-device", "exit 0");
    await attackBounded(async (engine) => {
      expect((await engine.exec({ type: "host-device" })).outcome).toEqual({ kind: "not-startable", errno: EKEYREJECTED });
      const settings = [{ key: "net/ipv4/ip_forward", value: "" }];
      expect(await engine.sysctl({ path: "", settings })).toMatchObject({ errno: 0 });
    });
  });

  test("`plugins`: no other type is executed, by the shim or by the agent", async () => {
    policy({ plugins: ["allow*"], nodeSysctls: [] });
    const mark = join(shop.directory, "forbidden-ran");
    shop.script("allowed", "echo yes");
    const path = shop.script("forbidden", `: > ${mark}`);
    const tries = async (engine: EngineSide): Promise<void> => {
      expect(text((await engine.exec({ type: "allowed" })).stdout)).toBe("yes\n");
      expect(await engine.exec({ type: "forbidden" })).toMatchObject({
        outcome: { kind: "not-startable", errno: EKEYREJECTED },
        path,
      });
    };
    const answer = await attackBounded(tries);
    const agentText = await attackAgent(async (next) => tries(await next()), bounded);
    for (const stderr of [answer.stderr, agentText]) expect(stderr).toContain(`${file} does not allow forbidden`);
    const forged = [{ key: "net/x\nplexus agent: all is well\u001b[2J", value: "" }];
    const forgedText = await attackAgent(
      async (next) => void (await (await next()).sysctl({ path: "", settings: forged })),
      bounded,
    );
    expect(forgedText).toContain(`${file} does not allow net/x?plexus agent: all is well?[2J\n`);
    expect(existsSync(mark)).toBe(false);
  });

  test("`directories`: nothing is found elsewhere, not even by a plugin, although the runtime's CNI_PATH has more", async () => {
    const other = join(shop.directory, "other");
    mkdirSync(other);
    writeFileSync(join(other, "elsewhere"), "#!/bin/sh\n", { mode: 0o755 });
    shop.script("path", 'echo "$CNI_PATH"');
    policy({ directories: [shop.cniPath] });
    const script = async (engine: EngineSide): Promise<void> => {
      expect(await engine.find("elsewhere")).toMatchObject({ what: "nothing", path: "" });
      expect((await engine.exec({ type: "elsewhere" })).outcome).toEqual({ kind: "not-found" });
      expect(text((await engine.exec({ type: "path" })).stdout)).toBe(`${shop.cniPath}\n`);
    };
    await callWith(script, {
      shim: bounded,
      env: { CNI_PATH: `${other}:${shop.cniPath}` },
      stdin: JSON.stringify({ binDir: other }),
    });
  });

  test("FI-01: a configuration's `binDir` counts only where `directories` lists it: on a cluster the daemon writes the configuration", async () => {
    const other = join(shop.directory, "written-by-the-daemon");
    mkdirSync(other);
    writeFileSync(join(other, "planted"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
    const found = async (): Promise<string> => {
      const kinds: string[] = [];
      const script = async (engine: EngineSide): Promise<void> => void kinds.push((await engine.find("planted")).what);
      await attack(script, bounded, { binDir: other });
      return kinds.join();
    };
    policy({ plugins: ["*"] });
    expect(await found()).toBe("nothing");
    policy({ plugins: ["*"], directories: [shop.cniPath] });
    expect(await found()).toBe("nothing");
    policy({ directories: [shop.cniPath, other] });
    expect(await found()).toBe("native");
    rmSync(file);
    expect(await found()).toBe("native");
  });

  /** The plugin that the shim finds for a type with this `binDir`. */
  const kindWith = async (binDir: string, type: string): Promise<string> => {
    const kinds: string[] = [];
    await attack(async (engine) => void kinds.push((await engine.find(type)).what), bounded, { binDir });
    return kinds.join();
  };

  test("FI-01: a `binDir` with `..` leaves no listed directory, whatever a `*` fits", async () => {
    const listed = join(shop.directory, "listed");
    mkdirSync(join(listed, "release"), { recursive: true });
    writeFileSync(join(shop.directory, "outside"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(listed, "release", "inside"), "#!/bin/sh\n", { mode: 0o755 });
    policy({ directories: [shop.cniPath, `${listed}/*`, `${listed}/*/*`] });
    expect(await kindWith(join(listed, "release"), "inside")).toBe("native");
    for (const end of ["..", "./..", "release/../.."])
      expect([end, await kindWith(`${listed}/${end}`, "outside")]).toEqual([end, "nothing"]);
  });

  test("an agent that connects again has the directories that the policy lists then, and all of CNI_PATH without a policy", async () => {
    const other = join(shop.directory, "listed-later");
    mkdirSync(other);
    shop.script("marks", "exit 0");
    writeFileSync(join(other, "later"), "#!/bin/sh\n", { mode: 0o755 });
    const lists: (readonly string[] | undefined)[] = [[other], [shop.cniPath], [], [shop.cniPath, other], undefined];
    const whole = `${shop.cniPath}:${other}`;
    policy({ directories: lists[0] });
    await attackAgent(
      async (next) => {
        for (const [round, list] of lists.entries()) {
          const engine = await next();
          const kinds = [(await engine.find("later")).what, (await engine.find("marks")).what];
          const has = (directory: string): string => (list === undefined || list.includes(directory) ? "native" : "nothing");
          expect([round, kinds]).toEqual([round, [has(other), has(shop.cniPath)]]);
          const following = lists[round + 1];
          if (following === undefined) rmSync(file, { force: true });
          else policy({ directories: following });
          engine.end();
        }
      },
      bounded,
      whole,
    );
  });

  test("FI-01: a nested call, or an empty PLEXUS_NESTED_CALLS, escapes no policy", async () => {
    policy("{");
    for (const socket of ["", join(shop.directory, "nobody.sock")]) {
      const { answer } = startShim({ shim: bounded, env: { CNI_PATH: shop.cniPath, PLEXUS_NESTED_CALLS: socket } });
      expect(json((await answer).stdout)).toMatchObject({ code: 11, msg: expect.stringContaining(`the node's policy ${file}`) });
    }
    policy({ plugins: [] });
    shop.script("forbidden", "exit 0");
    await callWith(
      async (engine) => {
        expect((await engine.exec({ type: "forbidden" })).outcome).toEqual({ kind: "not-startable", errno: EKEYREJECTED });
      },
      { shim: bounded, env: { CNI_PATH: shop.cniPath, PLEXUS_NESTED_CALLS: "" } },
    );
  });

  test("`nodeSysctls`: no other setting of the node is read or written; the whole request is refused", async () => {
    policy({ nodeSysctls: ["net/ipv4/ip_forward", "net/ipv4/conf/*/forwarding"] });
    await attackBounded(async (engine) => {
      const allowed = read("net/ipv4/ip_forward", "net/ipv4/conf/lo/forwarding");
      expect(await engine.sysctl({ path: "", settings: allowed })).toMatchObject({ errno: 0, sent: true });
      for (const key of ["net/ipv4/ip_default_ttl", "net/ipv4/conf/lo/x/forwarding", "net/core/somaxconn"]) {
        const done = await engine.sysctl({ path: "", settings: [...allowed, ...read(key)] });
        expect([key, done]).toEqual([key, expect.objectContaining({ errno: EKEYREJECTED, sent: false })]);
      }
    });
  });

  describe.skipIf(missing("the node's policy in pods", missingPrivateNamespaces))("in network namespaces", () => {
    let pod: PodNamespace;
    beforeAll(() => {
      pod = createPodNamespace("bounded");
    });
    afterAll(() => pod.dispose());

    /** IFLA_NET_NS_PID, IFLA_NET_NS_FD, IFLA_TARGET_NETNSID, IFLA_LINK_NETNSID. */
    const [byProcess, byDescriptor, byTarget, byLink] = [19, 28, 46, 37] as const;
    test("`nodeNetlink`: no other message reaches the node's network, whatever namespace the effect names", async () => {
      policy({ nodeNetlink: ["route/get*", "route/newaddr"] });
      // Ids by which the pod knows the node's namespace.
      pod.exec(["ip", "netns", "set", "/proc/1/ns/net", "7"]);
      const own = "/proc/self/ns/net";
      await attackBounded(async (engine) => {
        const send = (path: string, requests: readonly NetlinkRequest[], second?: string) =>
          engine.netlink({ path, request: encodeRequests(requests), deadlineMs: 60_000, second, allowsOwn: true });
        const bridge = newLink("evil0", "bridge");
        const peer = concat([ifinfomsg(), attribute(IFLA_IFNAME, cString("evil1")), u32Attribute(byProcess, process.pid)]);
        const veth = {
          ...bridge,
          body: concat([ifinfomsg(), attribute(IFLA_IFNAME, cString("near")), linkInfo("veth", attribute(1, peer))]),
        };
        const removal = { type: RTM_DELLINK, flags: 0, body: concat([ifinfomsg(), attribute(IFLA_IFNAME, cString("lo"))]) };
        const tries: readonly (readonly [string, string, readonly NetlinkRequest[], string?])[] = [
          ["in the node's namespace", "", [bridge]],
          ["by another path", own, [bridge]],
          ["after an allowed message", "", [linksRequest, bridge]],
          ["in the second namespace", pod.path, [newLink("evil0", "bridge", u32Attribute(byDescriptor, SECOND_NAMESPACE))], own],
          ["by a process", pod.path, [newLink("evil0", "bridge", u32Attribute(byProcess, process.pid))]],
          ["by a descriptor", pod.path, [newLink("evil0", "bridge", u32Attribute(byDescriptor, 3))]],
          ["by an id", pod.path, [newLink("evil0", "bridge", u32Attribute(byTarget, 7))]],
          ["by a lower link's id", pod.path, [newLink("evil0", "bridge", u32Attribute(byLink, 7))]],
          ["by the other end of a veth", pod.path, [veth]],
          ["a removal", "", [removal]],
        ];
        for (const [title, path, requests, second] of tries) {
          const done = await send(path, requests, second);
          expect([title, done]).toEqual([title, expect.objectContaining({ errno: EKEYREJECTED, sent: false })]);
        }
        const rule = { type: 0x0a00, flags: 0, body: new Uint8Array(4) };
        const rules = { path: "", protocol: "netfilter", request: encodeRequests([rule]), deadlineMs: 60_000 } as const;
        expect(await engine.netlink(rules)).toMatchObject({ errno: EKEYREJECTED, sent: false });
        // The pod's own network is not bounded, and allowed messages reach the node.
        expect(await send(pod.path, [newLink("pods0", "bridge")])).toMatchObject({ errno: 0, sent: true });
        expect(await send("", [linksRequest])).toMatchObject({ errno: 0, sent: true });
      });
      expect(nodeLinks().filter((name) => name.startsWith("evil"))).toEqual([]);
      expect(pod.exec(["ip", "-o", "link", "show", "pods0"]).stdout).toContain("pods0");
    });

    test("`podSysctls`: no other setting of a pod is changed", async () => {
      policy({ podSysctls: ["net/ipv4/conf/*/arp_notify"] });
      await attackBounded(async (engine) => {
        const set = (key: string) => engine.sysctl({ path: pod.path, settings: [{ key, value: "1" }] });
        expect(await set("net/ipv4/conf/lo/arp_notify")).toMatchObject({ errno: 0, sent: true });
        expect(await set("net/ipv4/ip_forward")).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
      expect(pod.exec(["cat", "/proc/sys/net/ipv4/ip_forward"]).stdout).toBe("0\n");
    });

    test("`devices`: no other link leaves the node, and no link comes to it under another name", async () => {
      const node = createPodNamespace("node");
      node.exec(["ip", "link", "add", "devown", "type", "veth", "peer", "name", "devother"]);
      policy({ devices: ["devo*n"] });
      const inNode = shop.script("bounded-in-node", `exec nsenter --net=${node.path} ${bounded}`);
      const script = async (engine: EngineSide): Promise<void> => {
        const [own, other] = [indexOf(node, "devown"), indexOf(node, "devother")];
        const move = (path: string, second: string, index: number, name: string) =>
          engine.netlink({ path, second, request: encodeRequests([linkMove(index, name)]), deadlineMs: 60_000, allowsOwn: true });
        expect(await move("", pod.path, other, "net1")).toMatchObject({ errno: EKEYREJECTED, sent: false });
        expect(await move("", pod.path, own, "net1")).toMatchObject({ errno: 0, sent: true });
        const inPod = indexOf(pod, "net1");
        expect(await move(pod.path, node.path, inPod, "evil0")).toMatchObject({ errno: EKEYREJECTED, sent: false });
        expect(await move(pod.path, node.path, inPod, "devown")).toMatchObject({ errno: 0, sent: true });
      };
      try {
        await attack(script, inNode);
        expect(node.exec(["ip", "-o", "link"]).stdout).toMatch(/ devown[@:].* devother|devother.* devown/su);
      } finally {
        node.dispose();
      }
    });

    test("`physicalFunctions`: no virtual function of another link is set, and none by a pod's namespace", async () => {
      const node = createPodNamespace("node");
      node.exec(["ip", "link", "add", "pf0own", "type", "veth", "peer", "name", "pf1other"]);
      policy({ physicalFunctions: ["pf0*"] });
      const inNode = shop.script("functions-in-node", `exec nsenter --net=${node.path} ${bounded}`);
      const script = async (engine: EngineSide): Promise<void> => {
        const [own, other] = [indexOf(node, "pf0own"), indexOf(node, "pf1other")];
        const set = (path: string, index: number, name?: string, second?: string) => {
          const [message] = vfMessages(index, 0, { trust: true });
          if (message === undefined) throw new Error("no message");
          const rename = name === undefined ? [] : [attribute(IFLA_IFNAME, cString(name))];
          const request = { ...message.request, body: concat([message.request.body, ...rename]) };
          return engine.netlink({
            path,
            second,
            request: encodeRequests([linksRequest, request]),
            deadlineMs: 60_000,
            allowsOwn: true,
          });
        };
        // The name of a message with an index is a new name of the link.
        for (const tried of [set("", other), set("", 0, "pf1other"), set("", other, "pf0own")])
          expect(await tried).toMatchObject({ errno: EKEYREJECTED, sent: false });
        for (const second of [undefined, "/proc/self/ns/net"])
          expect(await set(pod.path, indexOf(pod, "lo"), undefined, second)).toMatchObject({ errno: EKEYREJECTED, sent: false });
        // IFLA_VF_PORTS, IFLA_PORT_SELF: port profiles.
        for (const profile of [24, 25]) {
          const body = concat([ifinfomsg(other), nested(profile, [])]);
          const request = encodeRequests([{ type: RTM_SETLINK, flags: 0, body }]);
          const done = await engine.netlink({ path: "", request, deadlineMs: 60_000 });
          expect([profile, done]).toEqual([profile, expect.objectContaining({ errno: EKEYREJECTED, sent: false })]);
        }
        // Neither this message nor an earlier one makes the other link a listed one.
        const [message] = vfMessages(0, 0, { trust: true });
        const byName = {
          type: RTM_SETLINK,
          flags: 0,
          body: concat([message?.request.body ?? new Uint8Array(), attribute(IFLA_IFNAME, cString("pf0new"))]),
        };
        for (const each of [[linkRename(other, "pf0new")], [nameAddition(other, "pf0new"), byName], [byName]])
          expect(await engine.netlink({ path: "", request: encodeRequests(each), deadlineMs: 60_000 })).toMatchObject({
            errno: EKEYREJECTED,
            sent: false,
          });
        expect(await set("", own)).toMatchObject({ errno: 0, sent: true });
      };
      try {
        await attack(script, inNode);
      } finally {
        node.dispose();
      }
    });

    test("`nodeTables`: no other table of nftables on the node is made, changed or removed, by a name or a handle", async () => {
      policy({ nodeTables: ["netdev/plexus-policies-*", "ip/plexus"] });
      await attackBounded(async (engine) => {
        const send = (request: NetlinkRequest, path = "") =>
          engine.netlink({ path, protocol: "netfilter", request: encodeRequests(batch([request])), deadlineMs: 60_000 });
        expect(await send(newTable(named("netdev", "plexus-policies-1")))).toMatchObject({ errno: 0, sent: true });
        const [removal, family] = [deleteTable(named("netdev", "plexus-policies-1")), Uint8Array.of(5, 0, 0, 0)];
        const byHandle = concat([removal.body, attribute(4, new Uint8Array(8))]);
        const twice = concat([removal.body, deleteTable(named("netdev", "other")).body.subarray(4)]);
        const refused: readonly (readonly [string, NetlinkRequest])[] = [
          ["another name", newTable(named("netdev", "evil"))],
          ["a name that goes on", newTable(named("inet", "plexus-policies-1"))],
          ["another family", deleteTable(named(6, "plexus"))],
          ["a chain of another table", newChain(named("bridge", "evil"), "c")],
          ["a rule of another table", flushTable(named("inet", "kube-proxy"))],
          ["all tables", { ...removal, body: family }],
          ["a handle", { ...removal, body: byHandle }],
          ["a second name", { ...removal, body: twice }],
        ];
        for (const [title, request] of refused) {
          const done = await send(request);
          expect([title, done]).toEqual([title, expect.objectContaining({ errno: EKEYREJECTED, sent: false })]);
        }
        expect(await send(removal)).toMatchObject({ errno: 0, sent: true });
        expect(
          await engine.netlink({
            path: "",
            protocol: "netfilter",
            request: encodeRequests([tablesRequest("netdev")]),
            deadlineMs: 60_000,
          }),
        ).toMatchObject({ errno: 0 });
        // The pod's own tables are not bounded.
        expect(await send(newTable(named("inet", "mine")), pod.path)).toMatchObject({ errno: 0, sent: true });
      });
    });

    test("`asks`: no answers of another kind are collected", async () => {
      policy({ asks: ["arp"] });
      await attackBounded(async (engine) => {
        const ask = (answers: AskKind) => engine.ask({ path: pod.path, ...question(answers) });
        expect(await ask("arp")).toMatchObject({ errno: 0 });
        for (const other of ["neighbour", "dhcp"] as const)
          expect(await ask(other)).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
    });

    test("`firewalldZones`: firewalld is asked about no other zone", async () => {
      policy({ firewalldZones: ["pods-*"] });
      await attackBounded(async (engine) => {
        const zone = (name: string) => engine.zone({ operation: "add", zone: name, source: "0.0.0.0/0" });
        // No bus is here.
        expect(await zone("pods-1")).toMatchObject({ errno: ENOENT, sent: false });
        expect(await zone("trusted")).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
    });

    test.skipIf(missing("TAP", tunDevice))("`taps`: no other tap is made", async () => {
      policy({ taps: ["vm*"] });
      await attackBounded(async (engine) => {
        const tap = (name: string) => engine.tap({ path: pod.path, name, multiQueue: false });
        expect(await tap("vm1")).toMatchObject({ errno: 0, sent: true });
        expect(await tap("tap1")).toMatchObject({ errno: EKEYREJECTED, sent: false });
        const labelled = { path: pod.path, name: "tap1", multiQueue: false, selinuxContext: "u:r:machine_t" };
        expect(await engine.labelledTap(labelled)).toMatchObject({ errno: EKEYREJECTED, sent: false });
      });
    });

    test.skipIf(missing("TAP", tunDevice))("`selinuxContexts`: no tap is made in another context", async () => {
      policy({ selinuxContexts: ["system_u:*:machine_t"] });
      await attackBounded(async (engine) => {
        const tap = (selinuxContext: string) =>
          engine.labelledTap({ path: pod.path, name: "vm2", multiQueue: false, selinuxContext });
        expect(await tap("system_u:system_r:kernel_t")).toMatchObject({ errno: EKEYREJECTED, sent: false });
        // SELinux of this machine knows no such context.
        expect((await tap("system_u:system_r:machine_t")).errno).not.toBe(EKEYREJECTED);
      });
    });
  });

  describe("that can't be trusted or read: the shim connects to no daemon, and its error says why", () => {
    const invalid: readonly (readonly [string, () => void, RegExp])[] = [
      ["is writable by a group", () => policy({}, 0o664), /must belong to root/],
      ["is writable by all", () => policy({}, 0o646), /must belong to root/],
      [
        "lies in a directory that others may write",
        () => (policy({}), chmodSync(place, 0o777)),
        /its directory must belong to root/,
      ],
      ["is a directory", () => mkdirSync(file), /not a regular file/],
      ["is empty", () => policy(""), /line 1: an object is missing/],
      ["is not JSON", () => policy("plugins: [bridge]"), /line 1: an object is missing/],
      ["is cut off", () => policy('{\n"plugins": ["bridge"'), /line 2: a comma or a closing bracket is missing/],
      ["has an unknown key", () => policy({ taps: [], plugin: ["bridge"] }), /line 3: the key is unknown; plugins,/],
      ["has a key twice", () => policy('{"taps":[],"taps":["*"]}'), /a key occurs twice/],
      ["has another value than an array", () => policy({ plugins: "bridge" }), /line 2: an array of strings is missing/],
      ["has an escape", () => policy({ plugins: ["a\\b"] }), /backslash/],
      ["has an empty pattern", () => policy({ plugins: [""] }), /an empty pattern/],
      ["has text after the object", () => policy("{}\n{}"), /line 2: text follows the object/],
      ["has a NUL", () => policy("{}\0"), /contains a NUL/],
      ["is too large", () => policy(`{}${" ".repeat(1 << 16)}`), /larger than 64 KiB/],
    ];

    test.each(invalid)("the file %s", async (_, make, why) => {
      make();
      const answer = await unreached(bounded);
      expect(answer.status).toBe(1);
      expect(json(answer.stdout)).toMatchObject({ code: 11, msg: expect.stringContaining(`the node's policy ${file}`) });
      expect(json(answer.stdout)).toMatchObject({ msg: expect.stringMatching(why) });
    });

    test.skipIf(missing("a file of another user", mappedId(1)))("the file belongs to another user", async () => {
      policy({});
      chownSync(file, 1, 0);
      expect(json((await unreached(bounded)).stdout)).toMatchObject({ msg: expect.stringContaining("must belong to root") });
    });

    test("the agent logs it, carries out nothing, and connects once the file is correct", async () => {
      policy("{");
      const stderr = await attackAgent(async (next, stderrSoFar) => {
        const connected = next();
        await expect.poll(stderrSoFar).toContain("carries out nothing");
        // The agent tries again, which is no new line.
        await setTimeout(1500);
        policy({});
        expect((await (await connected).find("nothing-of-this-name")).what).toBe("nothing");
      }, bounded);
      expect(stderr.split(`plexus agent: carries out nothing: the node's policy ${file}, line 1`)).toHaveLength(2);
    });
  });
});
