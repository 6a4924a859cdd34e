// The stderr of plugins (CNI section 4) in the runtime's stderr, in `logFile` and in the daemon's log.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { installTestDelegate, testDelegate } from "../../lab/delegates/built.ts";
import { startDaemon } from "../../lab/daemon.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missing, privateNamespaces } from "../../lab/requires.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";
import { openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const calling = (call: string): readonly object[] => [{ call, type: "local-ipam" }];
const ipam = '{"cniVersion":"1.0.0","ips":[{"address":"10.20.0.7/24"}]}';

describe.skipIf(missingForMixed("plugins' stderr") || missing("plugins' stderr", privateNamespaces))("plugins' stderr", () => {
  let stage: Stage;
  let manifests: Manifests;
  let main: RecorderPlugin;
  beforeAll(() => testDelegate("puppet"));
  beforeEach(() => {
    stage = openStage({ native: [], components: [] });
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.pod("web", "");
    main = installRecorder(stage.plexus.cniPath, "main");
  });
  afterEach(() => stage.dispose());

  const logFile = (): string => join(stage.plexus.directory, "log");
  /** Lines of `logFile` without their timestamps. */
  const logged = (): readonly string[] =>
    existsSync(logFile())
      ? readFileSync(logFile(), "utf8")
          .split("\n")
          .slice(0, -1)
          .map((line) => line.replace(/^\S+ /, ""))
      : [];
  const attaching = (more: object = {}): Attaching => ({
    config: stage.network([{ type: "main" }], { manifests: manifests.directory, logFile: logFile(), ...more }),
    containerId: "ctr-web",
    pod: stage.pod(),
    args: manifests.argsOf("web"),
  });

  test("CNI section 4: of successful steps goes to the runtime and to logFile, each line with its plugin and interface", async () => {
    const one = installRecorder(stage.plexus.cniPath, "one");
    manifests.network("one", [{ type: "one" }]);
    manifests.pod("web", [{ name: "one", interface: "data0" }]);
    main.script("ADD", { stderr: "first\n\nsecond without an end" });
    one.script("ADD", { stderr: Buffer.from("\u001b[31mred\u001b[0m\r\nbell\u0007 \u202ebidi\n\xff\u0000\n", "latin1") });
    main.script("DEL", { stderr: "gone\n" });
    const web = attaching();
    const added = await stage.call("ADD", web);
    expect([added.status, added.json]).toMatchObject([0, { ips: [{ address: "10.99.0.2/24" }] }]);
    const lines = [
      "main eth0: first",
      "main eth0: second without an end",
      "one data0: red",
      "one data0: bell .bidi",
      "one data0: \ufffd",
    ];
    expect(added.stderr.split("\n")).toEqual([...lines.map((line) => expect.stringMatching(line)), ""]);
    expect(logged()).toEqual(lines.map((line) => expect.stringMatching(`^\\[verbose\\] ${line}$`)));
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(added.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect((await stage.call("DEL", web)).stderr).toBe("main eth0: gone\n");
  });

  test("CNI section 4: of CHECK, STATUS and GC, and of a step with an invalid result, is passed on", async () => {
    for (const verb of ["CHECK", "STATUS", "GC"]) main.script(verb, { stderr: `${verb} said so\n` });
    const web = attaching({ cniVersion: "1.1.0", manifests: undefined });
    await stage.succeed("ADD", web);
    expect((await stage.call("CHECK", web)).stderr).toBe("main eth0: CHECK said so\n");
    for (const verb of ["STATUS", "GC"]) {
      const config = { ...web.config, "cni.dev/valid-attachments": [{ containerID: "ctr-web", ifname: "eth0" }] };
      expect((await stage.request({ verb, config })).stderr).toBe(`main: ${verb} said so\n`);
    }
    await stage.succeed("DEL", web);
    main.script("ADD", { stdout: "no result", stderr: "a hint\n" });
    const refused = await stage.call("ADD", web);
    expect([refused.json, refused.stderr]).toEqual([expect.objectContaining({ code: 6 }), "main eth0: a hint\n"]);
  });

  test("of a failed step is in the error's details only", async () => {
    main.script("ADD", { exit: 1, stdout: '{"code":107,"msg":"no veth"}', stderr: "a hint\n" });
    const refused = await stage.call("ADD", attaching());
    expect([refused.json, refused.stderr]).toMatchObject([{ code: 107, details: expect.stringContaining("a hint") }, ""]);
  });

  test("obeys logToStderr and logLevel", async () => {
    main.script("ADD", { stderr: "first\n" });
    expect((await stage.call("ADD", attaching({ logToStderr: false }))).stderr).toBe("");
    expect(logged()).toEqual(["[verbose] main eth0: first"]);
    const quiet = { ...attaching({ logLevel: "error" }), containerId: "ctr-quiet" };
    expect([(await stage.call("ADD", quiet)).stderr, logged().length]).toEqual(["", 1]);
  });

  test("is limited for each line and for each call, and does not displace warnings", async () => {
    const others = ["one", "two", "three", "four"] as const;
    for (const name of others) {
      installRecorder(stage.plexus.cniPath, name).script("ADD", { stderr: `${"x".repeat(3000)}\n`.repeat(20), stdout: "" });
      manifests.network(name, [{ type: name }]);
    }
    main.script("ADD", { stderr: "\n".repeat(30_000) + "a\n".repeat(10_000) });
    manifests.pod("web", others.join(","));
    const { status, stderr } = await stage.call("ADD", attaching());
    expect(status).toBe(0);
    const lines = stderr.split("\n").slice(0, -1);
    expect(stderr.length).toBeLessThan(80 * 1024);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2100);
    expect(lines.filter((line) => line === "main eth0: a").length).toBeGreaterThan(100);
    expect(lines.filter((line) => /the rest of this call's plugin output is cut/.test(line))).toHaveLength(1);
    // One warning for each of the other networks, whose plugins printed no result.
    expect(lines.filter((line) => line.startsWith("plexus: warning: network shop/"))).toHaveLength(4);
  });

  test("L-62: of an IPAM plugin that a delegate calls is passed on", async () => {
    await installTestDelegate("puppet", stage.plexus.cniPath, ["puppet"]);
    const local = installRecorder(stage.plexus.cniPath, "local-ipam");
    local.script("ADD", { stdout: ipam, stderr: "the range is nearly full\n" });
    local.script("DEL", { stderr: "given back\n" });
    const step = { type: "puppet", do: { ADD: calling("ADD"), DEL: calling("DEL") }, ipam: { type: "local-ipam" } };
    const grants = { puppet: { log: {}, delegation: { plugins: ["local-ipam"] } } };
    const web = {
      config: stage.network([step], { wasm: { grants }, logFile: logFile() }),
      containerId: "ctr-1",
      pod: stage.pod(),
    };
    const added = await stage.call("ADD", web);
    expect([added.status, added.stderr]).toEqual([0, "local-ipam eth0: the range is nearly full\n"]);
    expect((await stage.call("DEL", web)).stderr).toBe("local-ipam eth0: given back\n");
    expect(logged()).toEqual(["[verbose] local-ipam eth0: the range is nearly full", "[verbose] local-ipam eth0: given back"]);
  });

  test("is in the daemon's log with the fields of its call and without secrets", async () => {
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    const daemon = await startDaemon({ socket, args: ["--state-dir", join(stage.plexus.directory, "state", "cni")] });
    try {
      main.script("ADD", { stderr: 'uses {"password":"hunter2"}\n' });
      const { config, containerId, pod, args = "" } = attaching();
      const netns = typeof pod === "string" ? pod : pod.path;
      const call = { verb: "ADD", containerId, netns, ifname: "eth0", config, args, env: { PLEXUS_SOCKET: socket } };
      expect((await stage.request(call)).status).toBe(0);
      const line = (): string | undefined =>
        daemon
          .stderr()
          .split("\n")
          .find((each) => each.includes("main eth0: "));
      await expect.poll(line).toBeDefined();
      const log: unknown = JSON.parse(line() ?? "null");
      expect(log).toMatchObject({
        level: "info",
        verb: "ADD",
        pod: "shop/web",
        container: "ctr-web",
        ifname: "eth0",
        step: "main",
      });
      expect(log).toMatchObject({ msg: 'main eth0: uses {"password":"[redacted]"}' });
      expect(daemon.stderr()).not.toContain("hunter2");
    } finally {
      await daemon.stop();
    }
  });
});
