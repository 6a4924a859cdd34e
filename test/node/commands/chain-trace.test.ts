// Chain traces: recorded by the installed binary in real network namespaces, shown, compared and replayed by plexusctl.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ChainTrace, StepRecord } from "../../../src/chain-trace/chain-trace.ts";
import { readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { dist } from "../../lab/plexus.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep, tuningStep } from "../../lab/mixed-network.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";

const secret = "hunter2-secret";
const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-1";

/** Runs plexusctl. */
function control(...command: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...command], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.skipIf(missingForMixed("chain traces"))("the chain trace of a call", () => {
  let stage: Stage;
  let directory: string;
  beforeAll(() => {
    stage = openStage(mixedInstallation);
    directory = join(stage.plexus.directory, "traces");
  });
  afterAll(() => stage.dispose());

  /** A pod on a network of four steps: bridge with a component as IPAM, a component, tuning, a component. */
  const podOn = (containerId: string, chainTrace: object, last: object = {}): Attaching => {
    const plugins = [
      bridgeStep(),
      { ...shaperStep, psk: secret },
      tuningStep(stage),
      { ...shaperStep, dns: { domain: "shop.example" }, ...last },
    ];
    const config = stage.network(plugins, { chainTrace: { directory, ...chainTrace } });
    return { containerId, pod: stage.pod(), args, config };
  };
  const traces = (): readonly string[] =>
    existsSync(directory) ? readdirSync(directory).filter((name) => !name.startsWith(".")) : [];
  /** The trace of a container's call. The engine writes it after the runtime has its answer. */
  const traceOf = async (verb: string, containerId: string): Promise<ChainTrace> => {
    const find = (): string | undefined => traces().find((name) => name.includes(`_${verb}_${containerId}_`));
    for (const end = Date.now() + 120_000; find() === undefined && Date.now() < end;) await sleep(5);
    const path = join(directory, find() ?? "missing");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(secret);
    const read = readChainTrace(text, path);
    if (!read.ok) throw new Error(read.fault.msg);
    return read.value;
  };
  const fileOf = (verb: string, containerId: string): string =>
    join(directory, traces().find((name) => name.includes(`_${verb}_${containerId}_`)) ?? "missing");
  const shown = ({ verb, type, kind, purpose, outcome, steps }: StepRecord): unknown => {
    const line = `${verb} ${type} ${kind}${purpose === "undo" ? " undo" : ""}${outcome.ok ? "" : " failed"}`;
    return steps.length === 0 ? line : [line, ...steps.map(shown)];
  };

  test("X-1: has each step's input, result, changes, imports, time and exit, and nested steps within their caller's", async () => {
    const pod = podOn("one", { calls: "all" });
    const added = await stage.succeed("ADD", pod);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const trace = await traceOf("ADD", "one");
    expect(trace).toMatchObject({ call: { verb: "ADD", containerId: "one", pod: "shop/cart-1" }, secrets: 1, omitted: [] });
    expect(trace.reply).toEqual({ status: 0, stdout: added.stdout });
    expect(trace.steps.map(shown)).toEqual([
      ["ADD bridge native", "ADD ipam-host-local wasm"],
      "ADD status-shaper wasm",
      "ADD tuning native",
      "ADD status-shaper wasm",
    ]);
    const [bridge, shaper, tuning, last] = trace.steps;
    expect(bridge?.native).toEqual({ path: join(stage.plexus.cniPath, "bridge"), exit: "exit status 0", stderr: "" });
    expect(bridge?.steps[0]?.component?.calls.map(({ capability, func }) => `${capability}.${func}`)).toEqual([
      "leases.reserveNext",
    ]);
    expect(bridge?.steps[0]?.component).toMatchObject({
      path: join(stage.plexus.cniPath, "ipam-host-local.wasm"),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      usage: { memoryBytes: 65_536 },
    });
    expect(shaper?.prevResult).toEqual(bridge?.result);
    expect(shaper?.changes).toEqual([
      { op: "add", path: "/dns/nameservers", value: ["10.10.0.1"] },
      { op: "add", path: "/dns/search", value: ["shop.example"] },
    ]);
    expect(JSON.parse(shaper?.stdin ?? "")).toMatchObject({ psk: "[redacted-1]" });
    expect(tuning?.changes).toEqual([]);
    expect(last?.changes).toEqual([{ op: "add", path: "/dns/domain", value: "shop.example" }]);
    for (const step of trace.steps) expect(step.ms).toBeGreaterThan(0);
    await stage.succeed("DEL", pod);
    expect((await traceOf("DEL", "one")).steps.map(shown)).toEqual([
      "DEL status-shaper wasm",
      "DEL tuning native",
      "DEL status-shaper wasm",
      ["DEL bridge native", "DEL ipam-host-local wasm"],
    ]);
  });

  test("shows the undo of a failed ADD; of other calls nothing is written if only failures are wanted", async () => {
    const failing = podOn("two", { calls: "failed", pods: ["shop/*"] }, { dns: { nameservers: ["no address"] } });
    const others = traces().length;
    await stage.succeed("ADD", { ...podOn("three", { calls: "failed" }), ifname: "eth1" });
    await stage.call("ADD", podOn("four", { calls: "failed", pods: ["other/*"] }, { dns: { nameservers: [7] } }));
    expect((await stage.call("ADD", failing)).status).toBe(1);
    const trace = await traceOf("ADD", "two");
    expect(traces()).toHaveLength(others + 1);
    expect(trace.reply.status).toBe(1);
    expect(trace.steps.map(shown)).toEqual([
      ["ADD bridge native", "ADD ipam-host-local wasm"],
      "ADD status-shaper wasm",
      "ADD tuning native",
      "ADD status-shaper wasm failed",
      "DEL status-shaper wasm undo",
      "DEL tuning native undo",
      "DEL status-shaper wasm undo",
      ["DEL bridge native undo", "DEL ipam-host-local wasm undo"],
    ]);
  });

  test("X-1: a replay of the chain's components gives the identical final result, without the pod and its leases", async () => {
    const pod = podOn("seven", { calls: "all" });
    const { json } = await stage.succeed("ADD", pod);
    await traceOf("ADD", "seven");
    await stage.succeed("DEL", pod);
    await traceOf("DEL", "seven");
    const file = fileOf("ADD", "seven");
    const text = control("trace", "replay", file, "-o", "wide");
    expect(text.stderr).toBe("");
    expect(text.stdout).toContain("every component gave the recorded outcome");
    const replay = control("trace", "replay", file, "-o", "json");
    const report = JSON.parse(replay.stdout) as {
      identical: boolean;
      steps: { status: string; type: string }[];
      results: { result: object }[];
    };
    expect(report.steps.map(({ status, type }) => `${type} ${status}`)).toEqual([
      "bridge recorded",
      "ipam-host-local identical",
      "status-shaper identical",
      "tuning recorded",
      "status-shaper identical",
    ]);
    expect(report.results.map(({ result }) => result)).toEqual([json]);
    expect(replay.status).toBe(0);
    expect(control("trace", "replay", fileOf("DEL", "seven"))).toMatchObject({ status: 0, stderr: "" });
  });

  test("a replay says what differs: another answer of an import, another component, a missing record", async () => {
    const file = fileOf("ADD", "seven");
    const change = (edit: (text: string) => string): ReturnType<typeof control> => {
      const path = join(stage.plexus.directory, "changed.json");
      writeFileSync(path, edit(readFileSync(file, "utf8")));
      return control("trace", "replay", path, "-o", "wide");
    };
    const otherAnswer = change((text) => text.replaceAll(/"address": "10\.10\.0\.\d+"/g, '"address": "10.10.0.77"'));
    expect(otherAnswer).toMatchObject({ status: 1, stderr: "" });
    expect(otherAnswer.stdout).toMatch(
      /DIFFERS {2}ADD ipam-host-local of pods as eth0\n {2}another result\n {2}~ \/ips\/0\/address: "10\.10\.0\.\d+\/24" -> "10\.10\.0\.77\/24"/,
    );
    const otherCall = change((text) => text.replaceAll('"func": "reserveNext"', '"func": "reserve"'));
    expect(otherCall.stdout).toMatch(/call 1 is leases\.reserveNext\(.*\); recorded: leases\.reserve\(/);
    expect(change((text) => text.replaceAll('"omitted": []', '"omitted": ["stdin"]')).stdout).toContain(
      "the trace has no complete stdin",
    );
    const components = join(stage.plexus.directory, "other");
    mkdirSync(components);
    cpSync(join(stage.plexus.cniPath, "status-shaper.wasm"), join(components, "ipam-host-local.wasm"));
    const otherComponent = control("trace", "replay", file, "--components", components, "-o", "wide");
    expect(otherComponent.status).toBe(1);
    expect(otherComponent.stdout).toContain("note: ");
    expect(otherComponent.stdout).toContain("NOT REPLAYED  ADD status-shaper");
  });

  test("trace show and diff print steps and changes, and no control characters of a plugin", async () => {
    const file = fileOf("ADD", "seven");
    const showing = control("trace", "show", file, "-o", "wide");
    expect(showing).toMatchObject({ status: 0, stderr: "" });
    expect(showing.stdout).toContain("ADD shop/cart-1 eth0: succeeded in");
    expect(showing.stdout).toContain('+ /dns/domain: "shop.example"');
    expect(showing.stdout).toMatch(/import leases\.reserveNext\(.*\) = .*10\.10\.0/);
    expect(control("trace", "show", "--directory", directory).status).toBe(0);
    const hostile = join(stage.plexus.directory, "hostile.json");
    writeFileSync(
      hostile,
      readFileSync(file, "utf8").replace('"exit": "exit status 0"', String.raw`"exit": "\u001b]0;x\u0007\u202e"`),
    );
    // oxlint-disable-next-line no-control-regex
    expect(control("trace", "show", hostile).stdout).not.toMatch(/[\u0000-\u0009\u001b\u0007\u202e]/);
    expect(control("trace", "diff", file, file)).toMatchObject({ status: 0 });
    const different = control("trace", "diff", file, hostile, "-o", "json");
    expect(different.status).toBe(1);
    expect(JSON.parse(different.stdout)).toMatchObject([
      { step: "ADD bridge of pods as eth0", changes: [{ op: "replace", path: "/native/exit" }] },
    ]);
    expect(control("trace", "show", "/dev/null")).toMatchObject({ status: 1, stderr: expect.stringContaining("/dev/null") });
  });

  test("a daemon records the next calls on request, without any configuration", async () => {
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    const statusSocket = join(stage.plexus.directory, "daemon", "status.sock");
    const state = join(stage.plexus.directory, "state", "cni");
    let daemon: TestDaemon | undefined;
    try {
      daemon = await startDaemon({ socket, args: ["--state-dir", state] });
      const config = stage.network([bridgeStep()]);
      const call = (verb: string, containerId: string, pod: string) =>
        stage.request({
          verb,
          containerId,
          netns: netns.path,
          ifname: "eth0",
          config,
          args,
          env: { PLEXUS_SOCKET: socket },
          ...(pod === "" ? {} : { args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod}` }),
        });
      const netns = stage.pod();
      expect(control("trace", "record", "--next", "0", "--status-socket", statusSocket)).toMatchObject({ status: 2 });
      const begun = control(
        "trace",
        "record",
        "--next",
        "1",
        "--pod",
        "shop/cart-*",
        "--status-socket",
        statusSocket,
        "-o",
        "json",
      );
      expect(JSON.parse(begun.stdout)).toMatchObject({
        directory: join(state, "traces"),
        request: { next: 1, pod: "shop/cart-*" },
        written: [],
      });
      for (const verb of ["ADD", "DEL"]) expect((await call(verb, "a", "other")).status).toBe(0);
      for (const verb of ["ADD", "DEL"]) expect((await call(verb, "b", "cart-9")).status).toBe(0);
      const report = (): { written: string[]; request?: object } =>
        JSON.parse(control("trace", "record", "--show", "--status-socket", statusSocket, "-o", "json").stdout);
      for (const end = Date.now() + 120_000; report().written.length === 0 && Date.now() < end;) await sleep(20);
      expect(report()).toEqual({ directory: join(state, "traces"), written: [expect.stringContaining("_ADD_b_eth0_")] });
      const shownText = control("trace", "show", "--directory", join(state, "traces"));
      expect(shownText.stdout).toContain("ADD shop/cart-9 eth0: succeeded");
      const [written = ""] = report().written;
      expect(control("trace", "replay", written)).toMatchObject({ status: 0, stderr: "" });
    } finally {
      await daemon?.stop();
    }
  });

  test("keeps the newest traces within its bound", async () => {
    const pod = podOn("five", { calls: "all", maxFiles: 2 });
    await stage.succeed("ADD", pod);
    await traceOf("ADD", "five");
    await stage.succeed("DEL", pod);
    await traceOf("DEL", "five");
    expect(traces().filter((name) => !name.includes("_five_"))).toEqual([]);
  });

  test("a directory that others may enter is a warning, and no trace is written", async () => {
    const pod = podOn("six", { calls: "all", directory: "/proc/self" });
    const { status, stderr } = await stage.call("ADD", pod);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining("chain trace: directory of traces /proc/self"),
    });
  });
});
