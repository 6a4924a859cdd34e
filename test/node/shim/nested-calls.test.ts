// The nested-call directory while another process changes it: the shim is root, and the process that names the directory need not be.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Executed } from "../../../host/protocol/messages.ts";
import { callWith, type EngineSide } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("wasm-ipam");
});
afterAll(() => shop.dispose());

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Calls the shim with nested-call directories in `runDir`. */
function run(
  script: (engine: EngineSide) => Promise<void>,
  { shim = shop.shim, runDir = shop.directory }: { readonly shim?: string; readonly runDir?: string } = {},
): Promise<unknown> {
  return callWith(script, { shim, cwd: shop.directory, env: { CNI_PATH: shop.cniPath }, stdin: JSON.stringify({ runDir }) });
}

const exec = (engine: EngineSide, type: string, nestedCallDirectory: string): Promise<Executed> =>
  engine.exec({ type, nestedCallDirectory });

describe("a nested-call directory", () => {
  test("the shim stays in its working directory, in which it starts this plugin and the next one", async () => {
    shop.script("where", "pwd");
    await run(async (engine) => {
      for (const name of ["1111111111111111", "2222222222222222"]) {
        const { stdout } = await exec(engine, "where", name);
        expect(text(stdout)).toBe(`${shop.directory}\n`);
      }
      expect(text((await engine.exec({ type: "where" })).stdout)).toBe(`${shop.directory}\n`);
    });
  });

  test("has links to the shim's own file, not to the link by which it was called, because that link may change", async () => {
    shop.script("shows", 'ls -l "${CNI_PATH%%:*}"');
    const linked = join(shop.directory, "current");
    symlinkSync(dirname(shop.shim), linked);
    for (const shim of [join(linked, "plexus"), shop.shim]) {
      await run(
        async (engine) => {
          const { stdout } = await exec(engine, "shows", "3333333333333333");
          expect(text(stdout)).toContain(`wasm-ipam -> ${realpathSync(shop.shim)}\n`);
        },
        { shim },
      );
    }
  });

  test("keeps a plugin's files, and is then refused as a nested-call directory", async () => {
    const name = "4444444444444444";
    const nestedCallDirectory = join(shop.directory, name);
    shop.script("fills", `echo data >${nestedCallDirectory}/precious; ln -s /kept ${nestedCallDirectory}/a-link`);
    await run(async (engine) => {
      expect((await exec(engine, "fills", name)).outcome).toEqual({ kind: "exited", status: 0 });
      expect(existsSync(join(nestedCallDirectory, "wasm-ipam"))).toBe(false);
      expect((await exec(engine, "fills", name)).outcome).toEqual({ kind: "not-startable", errno: 39 });
    });
    expect(readFileSync(join(nestedCallDirectory, "precious"), "utf8")).toBe("data\n");
  });

  test("is never another directory of root, although the path may change at any moment", async () => {
    const at = (...names: readonly string[]): string => join(shop.directory, "moving", ...names);
    for (const directory of [at("real"), at("safe")]) mkdirSync(directory, { recursive: true });
    const victim = "5555555555555555";
    mkdirSync(at("safe", victim), { mode: 0o700 });
    writeFileSync(at("safe", victim, "precious"), "data");
    symlinkSync(at("safe"), at("link"));
    // By its descriptor, so that the changing path does not affect the test itself.
    const real = openSync(at("real"), constants.O_DIRECTORY);
    const program = join(shop.directory, "exchange");
    const source = fileURLToPath(new URL("testing/exchange.c", import.meta.url));
    execFileSync("cc", ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o", program, source]);
    const exchanging = spawn(program, [at("real"), at("link")], { stdio: ["ignore", "ignore", "inherit"] });
    const outcomes = new Set<string>();
    try {
      shop.script("nothing", "exit 0");
      await run(
        async (engine) => {
          for (let tries = 0; tries < 600; tries++) {
            const { outcome } = await exec(engine, "nothing", victim);
            outcomes.add(outcome.kind);
            rmSync(`/proc/self/fd/${real}/${victim}`, { recursive: true, force: true });
          }
        },
        { runDir: at("real") },
      );
    } finally {
      const ended = once(exchanging, "close");
      exchanging.kill("SIGKILL");
      await ended;
      closeSync(real);
    }
    expect([...outcomes].sort()).toEqual(["exited", "not-startable"]);
    expect(readFileSync(at("safe", victim, "precious"), "utf8")).toBe("data");
  });
});
