// The installed plexusctl on a node with real attachments, with a daemon and without.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { httpRequest } from "../../lab/http-request.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { dist } from "../../lab/plexus.ts";
import { installHostile } from "../../lab/recorder.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts an HTTP server at the status socket that answers `answer` instead of a daemon. */
async function startFakeDaemon(path: string, answer: string): Promise<ChildProcess> {
  const program = `require("node:http").createServer((_, to) => to.end(${JSON.stringify(answer)})).listen(${JSON.stringify(path)}, () => console.log())`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

function control(...args: readonly string[]): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** stdout with every run of white space as one space. */
function singleSpaced({ stdout }: CommandResult): string {
  return stdout.replaceAll(/\s+/g, " ");
}

describe.skipIf(missingForMixed("plexusctl"))("plexusctl", () => {
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
  const state = (): string => join(stage.plexus.directory, "state", "cni");
  const endpointArgs = (): string[] => ["--status-socket", join(dirname(socket()), "status.sock"), "--state-dir", state()];
  async function daemon(): Promise<TestDaemon> {
    const started = await startDaemon({ socket: socket(), args: ["--state-dir", state(), "--sandboxes", "2"] });
    daemons.push(started);
    return started;
  }
  const call = (verb: string, containerId: string, config: object, pod = stage.pod().path) => {
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${containerId}`;
    return stage.request({ verb, containerId, netns: pod, ifname: "eth0", config, args, env: { PLEXUS_SOCKET: socket() } });
  };
  const native = { ipam: { type: "ipam-host-local", subnet: "10.10.0.0/29" } };
  const failing = () => stage.network([bridgeStep(native), { type: "fails-with-code" }]);

  /** Makes one attached pod, one pod whose ADD failed twice, and one pod whose DEL fails. */
  async function makeBusyNode(): Promise<void> {
    installHostile(stage.plexus.cniPath, "fails-with-code");
    installHostile(stage.plexus.cniPath, "fails-on-stderr", ["DEL"]);
    expect((await call("ADD", "cart-7", stage.network([bridgeStep(native)]))).status).toBe(0);
    for (const _ of [1, 2]) expect((await call("ADD", "broken-1", failing())).status).toBe(1);
    const stuck = stage.network([bridgeStep(native), { type: "fails-on-stderr" }]);
    const pod = stage.pod().path;
    expect((await call("ADD", "stuck-3", stuck, pod)).status).toBe(0);
    expect((await call("DEL", "stuck-3", stuck, pod)).status).toBe(1);
  }

  test.each([["not json"], ["null"], ["[]"], ['{"apiVersion":"plexus/v1","kind":"NodeStatus"}']])(
    "an invalid answer of the status socket is reported in one line: %s",
    async (answer) => {
      const path = join(stage.plexus.directory, "status.sock");
      const child = await startFakeDaemon(path, answer);
      const result = control("status", "--status-socket", path, "--state-dir", state());
      const round = control("reconcile", "--status-socket", path);
      child.kill();
      expect(round.stderr).toMatch(/^plexusctl: .*this plexusctl cannot read the answer.*\n$/);
      expect([result.status, result.stderr]).toEqual([1, ""]);
      expect(singleSpaced(result)).toContain(`no answer on ${path} (this plexusctl cannot read the answer`);
    },
  );

  test("--status-socket with the path of the call socket is reported", async () => {
    await daemon();
    const result = control("status", "--status-socket", socket(), "--state-dir", state());
    expect(result.status).toBe(1);
    expect(singleSpaced(result)).toContain(`no answer on ${socket()} (the socket is not a status socket)`);
    expect(singleSpaced(result)).toContain("If plexusd runs, give its status socket with --status-socket");
  });

  test("plexusd reports an absent --kubeconfig at its start", async () => {
    const path = join(stage.plexus.directory, "absent.kubeconfig");
    const running = await startDaemon({ socket: socket(), args: ["--state-dir", state(), "--kubeconfig", path] });
    daemons.push(running);
    await expect
      .poll(running.stderr)
      .toContain(`--kubeconfig cannot be used yet, so no pod or definition is watched: kubeconfig ${path}`);
  });

  test.each(["table", "wide", "json", "yaml"])(
    "control characters of an answer do not reach the terminal: -o %s",
    async (output) => {
      const running = await daemon();
      const path = join(dirname(socket()), "status.sock");
      const answer = JSON.parse((await httpRequest(path, "/status")).body);
      expect(await running.stop()).toBe(0);
      daemons.splice(0);
      const hostile = "\u001B[2Jx\u009B31m\u001B]0;title\u0007y\u202E";
      answer.daemon.version = hostile;
      answer.nodes[0].problems = [hostile];
      const failed = {
        time: hostile,
        request: "r",
        verb: hostile,
        pod: hostile,
        container: "",
        network: hostile,
        fault: hostile,
      };
      answer.failures = [{ ...failed, code: 1, msg: hostile, remedy: hostile, times: 1 }];
      const child = await startFakeDaemon(path, JSON.stringify(answer));
      const result = control("status", "-o", output, "--status-socket", path, "--state-dir", state());
      child.kill();
      // oxlint-disable-next-line no-control-regex -- control characters are what must be absent
      expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
      expect(result.stdout).toContain("xy");
    },
  );

  test("status shows attachments, failures and remedies in 80 columns", async () => {
    await daemon();
    await makeBusyNode();
    await expect.poll(() => control("status", ...endpointArgs()).stdout).toContain("Daemon: ready");
    const result = control("status", ...endpointArgs());
    expect([result.status, result.stderr]).toEqual([1, ""]);
    for (const text of [
      `ok journal ${state()}: is writable`,
      "0 of 64 served, 0 of 512 waiting",
      "Attachments: 2 attached, 1 NEED ATTENTION",
      "shop/stuck-3 eth0 pods 10.10.0.5/29 attached, 1 DEL failed",
      "shop/cart-7 eth0 pods 10.10.0.2/29 attached",
      'Why DEL fails: shop/stuck-3: network default as eth0: plugin type="fails-on-stderr" failed (delete): ',
      "pods default 2 bridge/ipam-host-local fails-on-stderr",
      "2 5 40 %",
      "Journal: 2 entries, ",
      "ago: DEL shop/stuck-3, network pods: PLUGIN_FAILED, code 999",
      "ago: ADD shop/broken-1, network pods, 2 times: PLUGIN_FAILED, code 123",
      "To do: Read the plugin's message; it names the cause.",
    ]) {
      expect(singleSpaced(result)).toContain(text);
    }
    const long = result.stdout.split("\n").filter((line) => line.length > 80 && !line.includes(stage.plexus.directory));
    expect(long).toEqual([]);
    expect(control("status", "-o", "wide", ...endpointArgs()).stdout).toContain(`${stage.leases}/pods`);
  });

  test("status without a daemon reads the disk and shows how to start the daemon", async () => {
    expect((await call("ADD", "cart-7", mixedNetwork(stage))).status).toBe(0);
    const result = control("status", ...endpointArgs());
    expect(result.status).toBe(1);
    for (const text of [
      `Daemon: no answer on ${join(dirname(socket()), "status.sock")} (the socket does not exist).`,
      "To do: systemctl start plexusd",
      "Attachments: 1 attached",
      "shop/cart-7 eth0 pods 10.10.0.2/24 attached",
      "pods default 1 bridge/ipam-host-local status-shaper tuning",
      "Journal: 1 entry, ",
    ]) {
      expect(singleSpaced(result)).toContain(text);
    }
  });

  test("status as JSON and as YAML is the same document", async () => {
    await daemon();
    await makeBusyNode();
    const json: Readonly<Record<string, unknown>> = JSON.parse(control("status", "-o", "json", ...endpointArgs()).stdout);
    const yaml: Readonly<Record<string, unknown>> = parse(control("status", "-o", "yaml", ...endpointArgs()).stdout);
    expect({ ...yaml, time: 0, daemon: 0 }).toEqual({ ...json, time: 0, daemon: 0 });
    expect(json).toMatchObject({
      apiVersion: "plexus/v1",
      kind: "NodeStatus",
      daemon: { ready: expect.any(Boolean), queue: { active: 0, waiting: 0 } },
      failures: [
        { verb: "DEL", pod: "shop/stuck-3", fault: "PLUGIN_FAILED", times: 1, remedy: expect.stringMatching(/\.$/) },
        { verb: "ADD", pod: "shop/broken-1", network: "pods", fault: "PLUGIN_FAILED", times: 2 },
      ],
      nodes: [{ stateDirectory: state(), journal: { entries: 2 }, problems: [] }],
    });
  });

  test("attachments lists every attachment", async () => {
    expect(control("attachments", ...endpointArgs())).toEqual({ status: 0, stdout: "no attachments\n", stderr: "" });
    await makeBusyNode();
    expect(singleSpaced(control("attachments", ...endpointArgs()))).toMatch(
      /^POD INTERFACE NETWORK ADDRESSES STATE AGE shop\/stuck-3 eth0 /,
    );
    expect(control("attachments", "-o", "name", ...endpointArgs()).stdout).toBe("shop/cart-7 eth0\nshop/stuck-3 eth0\n");
    const list: unknown = JSON.parse(control("attachments", "-o", "json", ...endpointArgs()).stdout);
    expect(list).toMatchObject([
      { pod: "shop/cart-7", addresses: ["10.10.0.2/29"] },
      { pod: "shop/stuck-3", failures: 1 },
    ]);
  });

  test("is installed beside the daemon, and runs through a symbolic link", () => {
    const bin = join(stage.plexus.directory, "home", "bin");
    const installed = spawnSync(process.execPath, [
      "scripts/install.ts",
      "--home",
      dirname(bin),
      "--cni-bin",
      join(stage.plexus.directory, "installed"),
    ]);
    expect(installed.status).toBe(0);
    mkdirSync(join(stage.plexus.directory, "local"));
    const link = join(stage.plexus.directory, "local", "plexusctl");
    symlinkSync(join(bin, "plexusctl"), link);
    const { status, stdout } = spawnSync(link, ["errors", "STORE_FAILED"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^STORE_FAILED, CNI code 5\n {2}Journal, cache,/)]);
  });
});

describe("plexusctl's command line", () => {
  test("--help fits into 80 columns", () => {
    const { status, stdout } = control("--help");
    expect(status).toBe(0);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test.each([
    [[], "no command was given"],
    [["explode"], "unknown command explode; valid: status, attachments, "],
    [["explode", "--help"], "unknown command explode"],
    [["atachments", "--help"], "unknown command atachments; did you mean attachments?"],
    [["status", "--nonsense"], "unknown option --nonsense; valid: --status-socket, --state-dir, --output"],
    [["status", "-o", "xml"], "-o xml: must be one of table, wide, json, yaml, name"],
    [["status", "--state-dir", "here"], "--state-dir here: must be an absolute path"],
    [["status", "web"], "status takes no argument; web is one"],
    [["attachments", "-o", "json", "shop/web"], "attachments takes no argument; shop/web is one"],
    [["reconcile", "now"], "reconcile takes no argument; now is one"],
    [["uninstall", "plexus"], "uninstall takes no argument; plexus is one"],
    [["version", "0.1.0"], "version takes no argument; 0.1.0 is one"],
    [["errors", "7", "11"], "errors takes one argument, [KIND or CODE]; 11 is one too many"],
    [["errors", "NOTHING\u001B[31m"], "no error has the kind or code NOTHING"],
  ])("%j ends with status 2 and one line", (args, line) => {
    const { status, stdout, stderr } = control(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^plexusctl: .*\n$/);
    expect(stderr).toContain(line);
    expect(stderr).not.toContain("\u001B");
  });

  test("E-21: colours appear in a terminal only, and not with NO_COLOR or --no-color", () => {
    const none = ["--status-socket", "/nonexistent/status.sock", "--state-dir", "/nonexistent"];
    const command = `'${process.execPath}' '${join(dist, "plexusctl.cjs")}' status ${none.join(" ")}`;
    const inTerminal = (more: string, env: NodeJS.ProcessEnv): string =>
      spawnSync("script", ["-qec", `${command} ${more}`, "/dev/null"], {
        encoding: "utf8",
        env: { ...process.env, TERM: "xterm", NO_COLOR: "", ...env },
      }).stdout;
    expect(control("status", ...none).stdout).not.toContain("\u001B");
    expect(inTerminal("--no-color", {})).not.toContain("\u001B");
    expect(inTerminal("", { NO_COLOR: "1" })).not.toContain("\u001B");
    expect(inTerminal("", { TERM: "dumb" })).not.toContain("\u001B");
    expect(inTerminal("-o json", {})).not.toContain("\u001B");
    expect(inTerminal("", {})).toContain("\u001B[31mPROBLEM:\u001B[0m");
  });

  test("errors lists every kind, and the kinds of one code", () => {
    expect(control("errors").stdout.split("\n").length).toBeGreaterThan(50);
    expect(control("errors", "11").stdout).toMatch(/^API_UNAUTHENTICATED, CNI code 11$/m);
    expect(control("errors", "call_busy").stdout).toContain("To do (runtime): Repeat the call");
  });
});
