// Where the links of a nested-call directory lead, and where the shim stays.

import { realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
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

function run(script: (engine: EngineSide) => Promise<void>, shim = shop.shim): Promise<unknown> {
  return callWith(script, { shim, cwd: shop.directory, env: { CNI_PATH: shop.cniPath } });
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
    shop.script("shows", 'ls -l "${CNI_PATH%%:*}/"');
    const linked = join(shop.directory, "current");
    symlinkSync(dirname(shop.shim), linked);
    for (const shim of [join(linked, "plexus"), shop.shim]) {
      await run(async (engine) => {
        const { stdout } = await exec(engine, "shows", "3333333333333333");
        expect(text(stdout)).toContain(`wasm-ipam -> ${realpathSync(shop.shim)}\n`);
      }, shim);
    }
  });
});
