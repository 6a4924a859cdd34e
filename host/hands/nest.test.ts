// The directory of a nested call where somebody else has a hand in it: hands are root, and who names the directory need not be.

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

import type { Executed } from "./messages.ts";
import { callWith, type BrainSide } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("wasm-ipam");
});
afterAll(() => shop.dispose());

const environment = new Map([["PATH", "/bin:/usr/bin"]]);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function run(script: (brain: BrainSide) => Promise<void>, hands = shop.hands, cwd = shop.directory): Promise<unknown> {
  return callWith(script, { hands, cwd, env: { CNI_PATH: shop.cniPath } });
}

const exec = (brain: BrainSide, type: string, nest: string): Promise<Executed> => brain.exec({ type, environment, nest });

describe("a nest", () => {
  test("leaves the hands in their working directory: the plugin, and the next one, are called there", async () => {
    shop.script("where", "pwd");
    await run(async (brain) => {
      for (const name of ["one", "two"]) {
        const { stdout } = await exec(brain, "where", join(shop.directory, "nests", name));
        expect(text(stdout)).toBe(`${shop.directory}\n`);
      }
      expect(text((await brain.exec({ type: "where", environment })).stdout)).toBe(`${shop.directory}\n`);
    });
  });

  test("has links to the hands' own file, whichever links they were called by: those may lead to another release by then", async () => {
    shop.script("shows", 'ls -l "${CNI_PATH%%:*}"');
    const linked = join(shop.directory, "current");
    symlinkSync(dirname(shop.hands), linked);
    for (const hands of [join(linked, "plexus"), shop.hands]) {
      await run(async (brain) => {
        const { stdout } = await exec(brain, "shows", join(shop.directory, "linked"));
        expect(text(stdout)).toContain(`wasm-ipam -> ${realpathSync(shop.hands)}\n`);
      }, hands);
    }
  });

  test("keeps what a plugin put into it, and isn't taken for one any more", async () => {
    const nest = join(shop.directory, "filled");
    shop.script("fills", `echo data >${nest}/precious; ln -s /kept ${nest}/a-link`);
    await run(async (brain) => {
      expect((await exec(brain, "fills", nest)).outcome).toEqual({ kind: "exited", status: 0 });
      expect(existsSync(join(nest, "wasm-ipam"))).toBe(false);
      expect((await exec(brain, "fills", nest)).outcome).toEqual({ kind: "not-startable", errno: 39 });
    });
    expect(readFileSync(join(nest, "precious"), "utf8")).toBe("data\n");
  });

  test(
    "is never another directory of root's that the path leads to from one moment to the next",
    { timeout: 60_000 },
    async () => {
      const at = (...names: readonly string[]): string => join(shop.directory, "moving", ...names);
      for (const directory of [at("real"), at("safe")]) mkdirSync(directory, { recursive: true });
      mkdirSync(at("safe", "victim"), { mode: 0o700 });
      writeFileSync(at("safe", "victim", "precious"), "data");
      symlinkSync(at("safe"), at("link"));
      // By its descriptor, so that the test itself can't be led astray.
      const real = openSync(at("real"), constants.O_DIRECTORY);
      const program = join(shop.directory, "exchange");
      const source = fileURLToPath(new URL("testing/exchange.c", import.meta.url));
      execFileSync("cc", ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o", program, source]);
      const exchanging = spawn(program, [at("real"), at("link")], { stdio: ["ignore", "ignore", "inherit"] });
      const outcomes = new Set<string>();
      try {
        shop.script("nothing", "exit 0");
        await run(async (brain) => {
          for (let tries = 0; tries < 600; tries++) {
            const { outcome } = await exec(brain, "nothing", at("real", "victim"));
            outcomes.add(outcome.kind);
            rmSync(`/proc/self/fd/${real}/victim`, { recursive: true, force: true });
          }
        });
      } finally {
        const ended = once(exchanging, "close");
        exchanging.kill("SIGKILL");
        await ended;
        closeSync(real);
      }
      expect([...outcomes].sort()).toEqual(["exited", "not-startable"]);
      expect(readFileSync(at("safe", "victim", "precious"), "utf8")).toBe("data");
    },
  );
});
