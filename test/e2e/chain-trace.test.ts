// Chain traces: recorded by the installed binary in real network namespaces.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ChainTrace, StepRecord } from "../../src/chain-trace/chain-trace.ts";
import { readChainTrace } from "../../src/chain-trace/read-chain-trace.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep, tuningStep } from "./mixed-network.ts";
import { type Attaching, openStage, type Stage } from "./stage.ts";

const secret = "hunter2-secret";
const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-1";

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
    for (const end = Date.now() + 10_000; find() === undefined && Date.now() < end;) await sleep(5);
    const path = join(directory, find() ?? "missing");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(secret);
    const read = readChainTrace(text, path);
    if (!read.ok) throw new Error(read.fault.msg);
    return read.value;
  };
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
