// EXEC with what the brain takes for granted: the hands look it up before they start anything.

import { copyFileSync, existsSync, mkdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { TakenForGranted } from "./messages.ts";
import { callWith, type BrainSide } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let front = "";
beforeAll(async () => {
  shop = await openWorkshop();
  front = join(shop.directory, "front");
});
afterAll(() => shop.dispose());
beforeEach(() => {
  rmSync(front, { recursive: true, force: true });
  mkdirSync(front);
  shop.script("main", `echo ran >>${join(shop.directory, "ran")}; echo '{}'`);
  shop.script("other", "exit 0");
  shop.component("sandboxed", "as it was");
  rmSync(join(shop.directory, "ran"), { force: true });
});

/** What came of it where this is taken for granted, once what `meddle` does is done. */
async function execTaking(
  take: (brain: BrainSide) => Promise<readonly TakenForGranted[]> | readonly TakenForGranted[],
  meddle: () => void = () => undefined,
): Promise<{ readonly outcome: unknown; readonly path: string; readonly ran: boolean }> {
  let told: { readonly outcome: unknown; readonly path: string } | undefined;
  await callWith(
    async (brain) => {
      const taken = await take(brain);
      meddle();
      const { outcome, path } = await brain.exec({ type: "main", taken });
      told = { outcome, path };
    },
    { hands: shop.hands, env: { CNI_PATH: `${front}:${shop.cniPath}` } },
  );
  if (told === undefined) throw new Error("no answer to EXEC");
  return { ...told, ran: existsSync(join(shop.directory, "ran")) };
}

const native = (type: string): TakenForGranted => ({ type, identity: "" });
const both = [native("main"), native("other")];
const sandboxed = async (brain: BrainSide): Promise<readonly TakenForGranted[]> => {
  const { identity } = await brain.find("sandboxed");
  expect(identity).toMatch(/^\d+:\d+:\d+:\d+:\d+$/);
  return [native("main"), { type: "sandboxed", identity }];
};

describe("an EXEC that takes for granted", () => {
  test("what is so is carried out", async () => {
    const ended = { outcome: { kind: "exited", status: 0 }, path: join(shop.cniPath, "main"), ran: true };
    expect(await execTaking(() => both)).toEqual(ended);
    expect(await execTaking(sandboxed)).toEqual(ended);
    expect(await execTaking(() => [])).toEqual(ended);
  });

  test.each<readonly [string, Parameters<typeof execTaking>[0], () => void]>([
    ["a native binary that is gone", () => both, () => unlinkSync(join(shop.cniPath, "other"))],
    ["itself, which is gone", () => both, () => unlinkSync(join(shop.cniPath, "main"))],
    [
      "a native binary that a component comes before now",
      () => both,
      () => copyFileSync(join(shop.cniPath, "sandboxed.wasm"), join(front, "other.wasm")),
    ],
    [
      "itself, where a component comes first now",
      () => both,
      () => copyFileSync(join(shop.cniPath, "sandboxed.wasm"), join(front, "main.wasm")),
    ],
    ["a component that is another one now", sandboxed, () => void shop.component("sandboxed", "another")],
    [
      "a component that an equal one comes before now",
      sandboxed,
      () => copyFileSync(join(shop.cniPath, "sandboxed.wasm"), join(front, "sandboxed.wasm")),
    ],
    ["a component that is gone", sandboxed, () => unlinkSync(join(shop.cniPath, "sandboxed.wasm"))],
    ["a component that a native binary comes before now", sandboxed, () => void shop.script("sandboxed", "exit 0")],
    ["a component where there never was one", () => [{ type: "other", identity: "1:2:3:4:5" }], () => undefined],
    ["a type that can't be one", () => [native("../cni/other")], () => undefined],
    ["a type without a name", () => [native("")], () => undefined],
  ])("%s is not carried out, and says so", async (_, take, meddle) => {
    expect(await execTaking(take, meddle)).toEqual({ outcome: { kind: "found-otherwise" }, path: "", ran: false });
    rmSync(join(shop.cniPath, "sandboxed"), { force: true });
  });
});
