// Both portmaps, called as a runtime calls them, in a world's node: the native one as a process, ours as the brain runs it, with the real
// hands in that namespace.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { namedByFile, runDelegateStep } from "../../../host/brain/delegate-step.ts";
import { answerAsPlugin } from "../../../host/brain/nested-call.ts";
import type { Hands } from "../../../host/hands/hands.ts";
import { type BrainSide, callWith } from "../../../host/hands/testing/scripted-brain.ts";
import type { Workshop } from "../../../host/hands/testing/workshop.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { defaultWasm, type DelegateGrants } from "../../../src/configuration/wasm-configuration.ts";
import { ok } from "../../../src/fault/result.ts";
import { referencePlugin } from "../../harness/requires.ts";
import type { World } from "./world.ts";

export interface PluginCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly containerId: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface PluginAnswer {
  readonly status: number;
  readonly stdout: string;
}

export type Plugin = (call: PluginCall) => Promise<PluginAnswer>;

const delegates = fileURLToPath(new URL("../../../delegates/", import.meta.url));
const dist = fileURLToPath(new URL("../../../dist/delegates/", import.meta.url));

function environment({ verb, containerId }: PluginCall, world: World): Record<string, string> {
  const attachment = { CNI_CONTAINERID: containerId, CNI_NETNS: world.pod.path, CNI_IFNAME: "eth0" };
  return { CNI_COMMAND: verb, CNI_PATH: "/opt/cni/bin", ...(verb === "GC" || verb === "STATUS" ? {} : attachment) };
}

function no(): never {
  throw new Error("the firewall needs netlink only");
}

/** Hands that do netlink, which is all that the firewall wants of them. */
function netlinkOnly(brain: BrainSide): Hands {
  return {
    netlink: (effect) => brain.netlink(effect),
    ensureThere: () => {},
    exec: no,
    find: no,
    read: no,
    sysctl: no,
    packet: no,
    tap: no,
  };
}

/** Runs a script with our plugin. */
export async function withOurs(
  shop: Workshop,
  world: World,
  grants: DelegateGrants,
  script: (ours: Plugin) => Promise<void>,
): Promise<void> {
  const type = "portmap";
  const path = join(dist, `${type}.wasm`);
  await buildDelegate({ dir: join(delegates, type), outFile: path });
  const [admission, runner] = [new Admission(), new InProcessRunner()];
  const configuration = { wasm: { ...defaultWasm, grants: { [type]: grants } } };
  const terms = { mostMs: 60_000, stepTimeoutMs: 60_000, callers: [], another: no };
  await withHands(shop, world, async (hands) => {
    const host = {
      hands,
      admission,
      names: namedByFile,
      runner,
      read: async () => ok(readFileSync(path)),
      lease: no,
      log: () => {},
    };
    await script(async (call) => {
      const request = {
        name: type,
        environment: new Map(Object.entries(environment(call, world))),
        stdin: Buffer.from(JSON.stringify(call.config)),
      };
      const { status, stdout } = await answerAsPlugin(
        request,
        () => (step) => runDelegateStep(host, configuration, step, { path, identity: "1" }, terms),
      );
      return { status, stdout: Buffer.from(stdout).toString() };
    });
  });
}

/** Runs a script with the real hands in a world's node. */
export async function withHands(shop: Workshop, world: World, script: (hands: Hands) => Promise<void>): Promise<void> {
  const nsenter = execFileSync("sh", ["-c", "command -v nsenter"], { encoding: "utf8" }).trim();
  const program = join(shop.directory, `hands-in-${world.node.name}`);
  writeFileSync(program, `#!/bin/sh\nexec ${nsenter} --net=${world.node.path} ${shop.hands} "$@"\n`, { mode: 0o755 });
  await callWith((brain) => script(netlinkOnly(brain)), { hands: program });
}

/** Runs native calls in order, `lanes` at a time. Answers what they printed, in the order of the calls. */
export async function runNative(world: World, calls: readonly PluginCall[], lanes: number): Promise<readonly PluginAnswer[]> {
  const binary = referencePlugin("portmap");
  if (binary === undefined) throw new Error("the native portmap is not installed");
  const answers: PluginAnswer[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const own = [...calls.entries()].filter(([index]) => index % lanes === lane);
      const script = own.map(([, call]) => {
        const assignments = Object.entries(environment(call, world)).map(([name, value]) => `${name}=${value}`);
        const stdin = JSON.stringify(call.config).replaceAll("'", String.raw`'\''`);
        return `printf '%s' '${stdin}' | ${assignments.join(" ")} ${binary} 2>&1; printf '\\036%s\\036' $?\n`;
      });
      const shell = spawn("nsenter", [`--net=${world.node.path}`, "sh"], { stdio: ["pipe", "pipe", "inherit"] });
      shell.stdin.end(script.join(""));
      const parts = (await text(shell.stdout)).split("\u001e");
      for (const [position, [index]] of own.entries())
        answers[index] = { stdout: parts[2 * position] ?? "", status: Number(parts[2 * position + 1]) };
    }),
  );
  return answers;
}
