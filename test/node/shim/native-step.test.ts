import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { buildShim } from "../../../host/shim/build.ts";
import { callWith } from "./testing/scripted-engine.ts";
import { missing, privateNamespaces } from "../../lab/requires.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";
import { type NativeStepResources, runNativeStep } from "../../../host/engine/steps/native-step.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function stepOf(type: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ type }), type);
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const env = [["CNI_PROBE", "report"]] as const;
  return { index: 0, plugin: plugin.value, verb: "ADD", env, stdin: "{}", prevResult: undefined, attachment: undefined };
}

interface Ran {
  readonly outcome: StepOutcome;
  /** Number of EXEC effects for the plugin. */
  readonly tries: number;
}

/** Runs the plugin with the real shim and the workshop's CNI_PATH. `tried` receives the number of each try after its end. */
async function run(
  type: string,
  deadlineMs: number,
  tried: (nth: number) => void = () => {},
  nestedCallDirectory = "",
  runDir = shop.directory,
  shimPath = shop.shim,
): Promise<Ran> {
  const ran: Ran[] = [];
  await callWith(
    async (engine) => {
      let tries = 0;
      const shim: NativeStepResources["shim"] = {
        async exec(effect) {
          const executed = await engine.exec(effect);
          tries += 1;
          tried(tries);
          return executed;
        },
      };
      const outcome = await runNativeStep(
        { shim, configuration: { goMaxProcs: 0 }, nestedCallDirectory, output: () => {} },
        { step: stepOf(type), timeoutMs: deadlineMs, maxMs: Infinity },
      );
      ran.push({ outcome, tries });
    },
    { shim: shimPath, env: { CNI_PATH: shop.cniPath }, stdin: JSON.stringify({ runDir }) },
  );
  const [only] = ran;
  if (only === undefined) throw new Error("the script did not end");
  return only;
}

test("a plugin whose nested-call directory has foreign files is not started, and the error names that directory", async () => {
  const name = "0123456789abcdef";
  const nestedCallDirectory = join(shop.directory, name);
  shop.component("some-component");
  mkdirSync(nestedCallDirectory, { mode: 0o700 });
  writeFileSync(join(nestedCallDirectory, "precious"), "data");
  const { outcome } = await run("nobody", 20_000, undefined, name);
  expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_FOUND" } });
  shop.probe("ready");
  const msg = `plugin ready was not started: its nested-call directory ${nestedCallDirectory} must be empty, but contains files that are not Plexus'; remove them`;
  expect((await run("ready", 20_000, undefined, name)).outcome).toMatchObject({
    ok: false,
    fault: { kind: "NESTED_CALL_DIRECTORY_OCCUPIED", msg },
  });
  expect(readFileSync(join(nestedCallDirectory, "precious"), "utf8")).toBe("data");
});

test.skipIf(missing("a read-only run directory", privateNamespaces))(
  "the error of a nested-call directory that cannot be made names the directory and the system's reason",
  async () => {
    const directory = join(shop.directory, "read-only");
    mkdirSync(directory);
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", directory]);
    try {
      shop.component("another-component");
      shop.probe("willing");
      const name = "0123456789abcdef";
      for (const runDir of [directory, join(directory, "plexus")])
        expect((await run("willing", 20_000, undefined, name, runDir)).outcome).toMatchObject({
          ok: false,
          fault: {
            kind: "STORE_FAILED",
            msg: `plugin willing was not started: creating its nested-call directory ${runDir}/${name}: EROFS, read-only file system`,
          },
        });
    } finally {
      execFileSync("umount", [directory]);
    }
  },
);

test("a plugin whose interpreter does not exist can't be started: the error says so, and the step has begun nothing", async () => {
  const path = join(shop.cniPath, "uninterpreted");
  writeFileSync(path, "#!/nonexistent/interpreter\n", { mode: 0o755 });
  const { outcome, tries } = await run("uninterpreted", 20_000);
  const msg = `plugin ${path} could not be started: the interpreter that its first line or its ELF header names does not exist`;
  expect([tries, outcome]).toMatchObject([
    1,
    { ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", code: 5, msg, notBegun: true } },
  ]);
});

test.skipIf(process.geteuid?.() !== 0)(
  "a plugin that the node's policy forbids can't be started, and the error names the policy",
  async () => {
    const policy = join(shop.directory, "policy.json");
    writeFileSync(policy, '{"plugins":[]}', { mode: 0o644 });
    const { path: shim } = await buildShim({ outDir: join(shop.directory, "bounded"), definitions: [`POLICY_FILE="${policy}"`] });
    shop.probe("bounded");
    const { outcome } = await run("bounded", 20_000, undefined, "", shop.directory, shim);
    const msg = expect.stringMatching(
      /^plugin .*\/bounded could not be started: the node's policy forbids it \(\/etc\/plexus\/policy\.json/,
    );
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg, notBegun: true } });
  },
);

describe.concurrent("L-10: a plugin whose file is open for writing", () => {
  test("is tried again, and runs after the writer has closed the file", async () => {
    const writer = openSync(shop.probe("upgraded"), "r+");
    const { outcome, tries } = await run("upgraded", 20_000, (nth) => nth === 2 && closeSync(writer));
    expect(outcome).toMatchObject({ ok: true });
    expect(tries).toBe(3);
  });

  test("fails after six tries", async () => {
    const writer = openSync(shop.probe("held"), "r+");
    const { outcome, tries } = await run("held", 20_000);
    const msg = `plugin ${join(shop.cniPath, "held")} was being written (ETXTBSY) at each attempt`;
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg } });
    expect(tries).toBe(6);
    closeSync(writer);
  });

  test("fails after the first try if the deadline comes before the next one", async () => {
    const writer = openSync(shop.probe("brief"), "r+");
    const { outcome, tries } = await run("brief", 500);
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE" } });
    expect(tries).toBe(1);
    closeSync(writer);
  });
});
