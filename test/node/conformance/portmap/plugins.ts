// Calls of both portmaps in a world's node namespace: the native plugin as a process, the delegate in an engine with the real
// shim in that namespace.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../../delegates/sdk/build/build-delegate.ts";
import type { Step } from "../../../../host/capabilities/step.ts";
import { runDelegateStep } from "../../../../host/engine/steps/delegate-step.ts";
import { namedByFile } from "../../../../host/sandbox/component-file.ts";
import { ComponentDemands } from "../../../../host/sandbox/provenance/component-demands.ts";
import { answerAsPlugin } from "../../../../host/engine/session/component-call.ts";
import type { Shim } from "../../../../host/protocol/shim.ts";
import { callWith, type EngineSide } from "../../shim/testing/scripted-engine.ts";
import type { Workshop } from "../../shim/testing/workshop.ts";
import { Admission } from "../../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../../host/sandbox/in-process.ts";
import type { ChainStep } from "../../../../src/cni/chain-step.ts";
import { defaultWasm } from "../../../../src/configuration/wasm-configuration.ts";
import type { DelegateGrants } from "../../../../src/configuration/keys/grant-keys.ts";
import { ok } from "../../../../src/fault/result.ts";
import { systemClock } from "../../../../host/system/clock.ts";
import type { World } from "./world.ts";

export interface PluginCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly containerId: string;
  /** Absent: eth0. */
  readonly ifname?: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface PluginAnswer {
  readonly status: number;
  readonly stdout: string;
}

export type Plugin = (call: PluginCall) => Promise<PluginAnswer>;

const delegates = fileURLToPath(new URL("../../../../delegates/", import.meta.url));
const dist = fileURLToPath(new URL("../../../../dist/delegates/", import.meta.url));

function environment({ verb, containerId, ifname = "eth0" }: PluginCall, world: World): Record<string, string> {
  const attachment = { CNI_CONTAINERID: containerId, CNI_NETNS: world.pod.path, CNI_IFNAME: ifname };
  return { CNI_COMMAND: verb, CNI_PATH: "/opt/cni/bin", ...(verb === "GC" || verb === "STATUS" ? {} : attachment) };
}

function unexpectedEffect(): never {
  throw new Error("the delegate requested an effect other than netlink");
}

/** A shim that serves only netlink, the only effect of the firewall. */
function netlinkOnly(engine: EngineSide): Shim {
  return {
    netlink: (effect) => engine.netlink(effect),
    ensureConnected: () => {},
    exec: unexpectedEffect,
    find: unexpectedEffect,
    read: unexpectedEffect,
    sysctl: unexpectedEffect,
    packet: unexpectedEffect,
    tap: unexpectedEffect,
    ask: unexpectedEffect,
    changes: unexpectedEffect,
    zone: unexpectedEffect,
  };
}

/** Runs a script with the delegate portmap. */
export async function withDelegate(
  shop: Workshop,
  world: World,
  grants: DelegateGrants,
  script: (delegate: Plugin) => Promise<void>,
): Promise<void> {
  const type = "portmap";
  const path = join(dist, `${type}.wasm`);
  await buildDelegate({ dir: join(delegates, type), outFile: path });
  const [admission, runner] = [new Admission(), new InProcessRunner()];
  const wasm = { ...defaultWasm, grants: { [type]: grants } };
  const running = (step: ChainStep, { config, ifname = "eth0" }: PluginCall): Step => {
    const place = { origin: "chain", network: String(config["name"]), ifname, callers: [] } as const;
    return { step, ...place, grants, timeoutMs: 60_000, maxMs: 60_000, runDelegated: unexpectedEffect };
  };
  await withShim(shop, world, async (shim) => {
    const host = {
      wasm,
      shim: { ...shim, read: async () => ({ kind: "content", errno: 0, content: readFileSync(path) }) as const },
      admission,
      componentNames: namedByFile,
      demands: new ComponentDemands(),
      runner,
      clock: systemClock,
      runLeaseOperation: unexpectedEffect,
      log: () => {},
    };
    await script(async (call) => {
      const request = {
        name: type,
        environment: new Map(Object.entries(environment(call, world))),
        stdin: Buffer.from(JSON.stringify(call.config)),
      };
      const { status, stdout } = await answerAsPlugin(request, () =>
        ok((step: ChainStep) => runDelegateStep(host, running(step, call), { path, identity: "1" })),
      );
      return { status, stdout: Buffer.from(stdout).toString() };
    });
  });
}

/** Runs a script with the real shim in a world's node namespace. */
export async function withShim(shop: Workshop, world: World, script: (shim: Shim) => Promise<void>): Promise<void> {
  const nsenter = execFileSync("sh", ["-c", "command -v nsenter"], { encoding: "utf8" }).trim();
  const program = join(shop.directory, `shim-in-${world.node.name}`);
  writeFileSync(program, `#!/bin/sh\nexec ${nsenter} --net=${world.node.path} ${shop.shim} "$@"\n`, { mode: 0o755 });
  await callWith((engine) => script(netlinkOnly(engine)), { shim: program });
}

/**
 * Runs calls of the native plugin `binary`, `lanes` at once. Returns the answers in the order of the calls.
 * The first call runs alone: native calls that create the plugin's chains concurrently fail with "chain already exists".
 */
export async function runNative(
  world: World,
  binary: string,
  calls: readonly PluginCall[],
  lanes: number,
): Promise<readonly PluginAnswer[]> {
  const first = await runInOrder(world, binary, calls.slice(0, 1));
  const others = calls.slice(1);
  const answers: PluginAnswer[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const laneCalls = [...others.entries()].filter(([index]) => index % lanes === lane);
      const laneAnswers = await runInOrder(
        world,
        binary,
        laneCalls.map(([, call]) => call),
      );
      for (const [position, [index]] of laneCalls.entries()) answers[index] = laneAnswers[position] ?? noAnswer;
    }),
  );
  return [...first, ...answers];
}

const noAnswer: PluginAnswer = { status: Number.NaN, stdout: "" };

/** Runs calls of a native plugin one after another. Returns the answers in the order of the calls. */
async function runInOrder(world: World, binary: string, calls: readonly PluginCall[]): Promise<readonly PluginAnswer[]> {
  const script = calls.map((call) => {
    const assignments = Object.entries(environment(call, world)).map(([name, value]) => `${name}=${value}`);
    const stdin = JSON.stringify(call.config).replaceAll("'", String.raw`'\''`);
    return `printf '%s' '${stdin}' | ${assignments.join(" ")} ${binary} 2>&1; printf '\\036%s\\036' $?\n`;
  });
  const shell = spawn("nsenter", [`--net=${world.node.path}`, "sh"], { stdio: ["pipe", "pipe", "inherit"] });
  shell.stdin.end(script.join(""));
  const parts = (await text(shell.stdout)).split("\u001e");
  return calls.map((_, position) => ({ stdout: parts[2 * position] ?? "", status: Number(parts[2 * position + 1]) }));
}
