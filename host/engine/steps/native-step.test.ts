import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../src/cni/network-list.ts";
import { callWith } from "../hands/testing/scripted-brain.ts";
import { missing, privateNamespaces } from "../../test/harness/requires.ts";
import { openWorkshop, type Workshop } from "../hands/testing/workshop.ts";
import { runNativeStep } from "./native-step.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function stepOf(type: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ type }), type);
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const env = [["PROBE", "report"]] as const;
  return { index: 0, plugin: plugin.value, verb: "ADD", env, stdin: "{}", prevResult: undefined, attachment: undefined };
}

interface Ran {
  readonly outcome: StepOutcome;
  /** How often the hands were asked to execute it. */
  readonly tries: number;
}

/** Runs it with the real hands, which look on the workshop's CNI_PATH. `tried` is told how each try ended. */
async function run(type: string, deadlineMs: number, tried: (nth: number) => void = () => {}, nest = ""): Promise<Ran> {
  const ran: Ran[] = [];
  await callWith(
    async (brain) => {
      let tries = 0;
      const hands: Parameters<typeof runNativeStep>[0] = {
        async exec(effect) {
          const executed = await brain.exec(effect);
          tries += 1;
          tried(tries);
          return executed;
        },
      };
      const outcome = await runNativeStep(hands, stepOf(type), { deadlineMs, nest, goMaxProcs: 0 });
      ran.push({ outcome, tries });
    },
    { hands: shop.hands, env: { CNI_PATH: shop.cniPath } },
  );
  const [only] = ran;
  if (only === undefined) throw new Error("the script did not end");
  return only;
}

test("a plugin whose directory for nested calls holds something else is not started, and the error names that directory", async () => {
  const nest = join(shop.directory, "occupied");
  shop.component("some-component");
  mkdirSync(nest, { mode: 0o700 });
  writeFileSync(join(nest, "precious"), "data");
  const { outcome } = await run("nobody", 20_000, undefined, nest);
  expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_FOUND" } });
  shop.probe("ready");
  const msg = `plugin ready was not started: ${nest}, made anew for its calls of other plugins, holds what isn't Plexus'`;
  expect((await run("ready", 20_000, undefined, nest)).outcome).toMatchObject({
    ok: false,
    fault: { kind: "NEST_OCCUPIED", msg },
  });
  expect(readFileSync(join(nest, "precious"), "utf8")).toBe("data");
});

test.skipIf(missing("a read-only run directory", privateNamespaces))(
  "a directory for nested calls that can't be made is named with the reason, and not the plugin, which isn't to blame",
  async () => {
    const directory = join(shop.directory, "read-only");
    mkdirSync(directory);
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", directory]);
    try {
      shop.component("another-component");
      shop.probe("willing");
      for (const nest of [join(directory, "nest"), join(directory, "plexus", "nest")])
        expect((await run("willing", 20_000, undefined, nest)).outcome).toMatchObject({
          ok: false,
          fault: {
            kind: "STORE_FAILED",
            msg: `plugin willing was not started: making ${nest} for its calls of other plugins: EROFS, read-only file system`,
          },
        });
    } finally {
      execFileSync("umount", [directory]);
    }
  },
);

describe.concurrent("L-10: a plugin whose file is open for writing", () => {
  test("is tried again and runs once the writer is gone", async () => {
    const writer = openSync(shop.probe("upgraded"), "r+");
    const { outcome, tries } = await run("upgraded", 20_000, (nth) => nth === 2 && closeSync(writer));
    expect(outcome).toMatchObject({ ok: true });
    expect(tries).toBe(3);
  });

  test("is given up after six tries, and never reported as a success", async () => {
    const writer = openSync(shop.probe("held"), "r+");
    const { outcome, tries } = await run("held", 20_000);
    const msg = `plugin ${join(shop.cniPath, "held")} was being written (ETXTBSY) at each attempt`;
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg } });
    expect(tries).toBe(6);
    closeSync(writer);
  });

  test("is given up at once where the deadline comes before the next try", async () => {
    const writer = openSync(shop.probe("brief"), "r+");
    const { outcome, tries } = await run("brief", 500);
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE" } });
    expect(tries).toBe(1);
    closeSync(writer);
  });
});
