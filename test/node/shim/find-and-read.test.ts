import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callWith, type EngineSide } from "./testing/scripted-engine.ts";
import { COMPONENT_MAGIC, MODULE_MAGIC, openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let first = "";
let second = "";
beforeAll(async () => {
  shop = await openWorkshop();
  first = join(shop.directory, "first");
  second = join(shop.directory, "second");
  mkdirSync(first);
  mkdirSync(second);
});
afterAll(() => shop.dispose());

function run(script: (engine: EngineSide) => Promise<void>): Promise<unknown> {
  return callWith(script, { shim: shop.shim, env: { CNI_PATH: `${first}:/nonexistent:${second}` } });
}

const native = (path: string): string => (writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 }), path);
const component = (path: string, rest = ""): string => (
  writeFileSync(path, Buffer.concat([COMPONENT_MAGIC, Buffer.from(rest)])),
  path
);

describe("FIND", () => {
  test("searches CNI_PATH in order; in one directory the native binary precedes the component, unless requested otherwise", async () => {
    const found = [
      {
        type: "both",
        files: [native(join(first, "both")), component(join(first, "both.wasm"))],
        expected: ["native", 0],
        reversed: ["component", 1],
      },
      {
        type: "apart",
        files: [component(join(first, "apart.wasm")), native(join(second, "apart"))],
        expected: ["component", 0],
        reversed: ["component", 0],
      },
      {
        type: "apart2",
        files: [native(join(first, "apart2")), component(join(second, "apart2.wasm"))],
        expected: ["native", 0],
        reversed: ["native", 0],
      },
      { type: "later", files: [component(join(second, "later.wasm"))], expected: ["component", 0], reversed: ["component", 0] },
    ] as const;
    await run(async (engine) => {
      for (const { type, files, expected, reversed } of found) {
        expect(await engine.find(type)).toMatchObject({ what: expected[0], path: files[expected[1]] });
        expect(await engine.find(type, true)).toMatchObject({ what: reversed[0], path: files[reversed[1]] });
      }
    });
  });

  test("names the file's identity: device, inode, size, and times of modification and of change in ns", async () => {
    const path = component(join(first, "known.wasm"), "rest");
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    await run(async (engine) => {
      expect((await engine.find("known")).identity).toBe(`${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`);
    });
  });

  test("finds only components: not a core module, a short file, a directory, a FIFO or a text", async () => {
    writeFileSync(join(first, "module.wasm"), MODULE_MAGIC);
    writeFileSync(join(first, "short.wasm"), COMPONENT_MAGIC.subarray(0, 7));
    writeFileSync(join(first, "text.wasm"), "#!/bin/sh\nexit 0\n");
    mkdirSync(join(first, "folder.wasm"));
    mkdirSync(join(first, "folder"));
    execFileSync("mkfifo", [join(first, "fifo.wasm"), join(first, "fifo")]);
    await run(async (engine) => {
      const nothing = { kind: "found", what: "nothing", path: "", identity: "" };
      for (const type of ["absent", "", "a/b", "first/known", "x".repeat(251)])
        expect([type, await engine.find(type)]).toEqual([type, nothing]);
      // The answer names the unsuitable file, for the error message.
      for (const [type, file] of [
        ["module", "module.wasm"],
        ["short", "short.wasm"],
        ["text", "text.wasm"],
        ["folder", "folder"],
        ["fifo", "fifo"],
      ] as const)
        expect([type, await engine.find(type)]).toEqual([type, { ...nothing, path: join(first, file) }]);
      for (const type of [".", ".."]) expect(await engine.find(type)).toMatchObject({ what: "nothing" });
      chmodSync(join(first, "known.wasm"), 0o755);
      expect(await engine.find("known.wasm")).toMatchObject({ what: "native" }); // whatever it holds: its name is the type
    });
  });

  test("a native plugin without execute permission is not found, and hides the same name in later directories", async () => {
    writeFileSync(join(first, "locked"), "#!/bin/sh\n", { mode: 0o644 });
    native(join(second, "locked"));
    await run(async (engine) => {
      const path = join(first, "locked");
      expect(await engine.find("locked")).toEqual({ kind: "found", what: "nothing", path, identity: "" });
    });
  });

  test("a link counts as its target, under the link's name", async () => {
    symlinkSync(component(join(shop.directory, "elsewhere")), join(first, "linked.wasm"));
    symlinkSync("/bin/sh", join(first, "shell"));
    symlinkSync("gone", join(first, "dangling.wasm"));
    await run(async (engine) => {
      expect(await engine.find("linked")).toMatchObject({ what: "component", path: join(first, "linked.wasm") });
      expect(await engine.find("shell")).toMatchObject({ what: "native", path: join(first, "shell") });
      expect(await engine.find("dangling")).toMatchObject({ what: "nothing" });
    });
  });
});

describe("READ", () => {
  test("gives a component's bytes, up to the cap", async () => {
    const rest = "x".repeat(300_000);
    const path = component(join(second, "large.wasm"), rest);
    await run(async (engine) => {
      const whole = await engine.read(path, 300_008);
      expect([whole.errno, Buffer.from(whole.content).equals(readFileSync(path))]).toEqual([0, true]);
      expect(await engine.read(path, 300_007)).toMatchObject({ errno: 27, content: new Uint8Array(0) });
    });
  });

  test("a component larger than a frame is refused before it is read", async () => {
    const path = component(join(second, "huge.wasm"));
    truncateSync(path, 40 << 20);
    await run(async (engine) => expect(await engine.read(path, 0xffff_ffff)).toMatchObject({ errno: 27 }));
  });

  test("gives nothing but components in the directories of CNI_PATH", async () => {
    const outside = component(join(shop.directory, "outside.wasm"));
    mkdirSync(join(first, "inner"));
    const deeper = component(join(first, "inner", "deeper.wasm"));
    writeFileSync(join(first, "secret.wasm"), "root:x:0:0");
    const unnamed = component(join(first, "unnamed"));
    const refused = {
      [outside]: 13,
      [deeper]: 13,
      [unnamed]: 13,
      "/etc/passwd": 13,
      [`${first}/../outside.wasm`]: 13,
      [`${first}/.wasm`]: 13,
      "known.wasm": 13,
      "": 13,
      [join(first, "secret.wasm")]: 22,
      [join(first, "fifo.wasm")]: 22,
      [join(first, "folder.wasm")]: 22,
      [join(first, "absent.wasm")]: 2,
    };
    await run(async (engine) => {
      for (const [path, errno] of Object.entries(refused)) {
        expect([path, (await engine.read(path)).errno]).toEqual([path, errno]);
      }
    });
  });

  test("gives the signatures beside a component, of the same directories only, and no pipe or directory under their name", async () => {
    const signatures = ".wasm.signatures.json";
    writeFileSync(join(first, `signed${signatures}`), "{}");
    writeFileSync(join(shop.directory, `outside${signatures}`), "{}");
    writeFileSync(join(first, "signed.signatures.json"), "{}");
    mkdirSync(join(first, `folder${signatures}`));
    execFileSync("mkfifo", [join(first, `fifo${signatures}`)]);
    const refused = {
      [join(shop.directory, `outside${signatures}`)]: 13,
      [join(first, "signed.signatures.json")]: 13,
      [join(first, signatures)]: 13,
      [join(first, `folder${signatures}`)]: 22,
      [join(first, `fifo${signatures}`)]: 22,
      [join(first, `absent${signatures}`)]: 2,
    };
    await run(async (engine) => {
      const read = await engine.read(join(first, `signed${signatures}`));
      expect({ errno: read.errno, text: Buffer.from(read.content).toString() }).toEqual({ errno: 0, text: "{}" });
      for (const [path, errno] of Object.entries(refused)) {
        expect([path, (await engine.read(path)).errno]).toEqual([path, errno]);
      }
    });
  });
});
