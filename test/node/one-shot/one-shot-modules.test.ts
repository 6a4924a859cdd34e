// The built-in modules of Node that a one-shot engine loads in addition to those of a program that opens a socket. Each costs CPU in every call.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";
import { missing } from "../../lab/requires.ts";

/** The engine runs its scripts, waits and names signals with these modules. */
const scriptModules = ["os", "timers/promises", "vm"];
/** The engine's locks use these modules. */
const ffi = ["ffi", "internal/ffi-shared-buffer", "internal/ffi/fast-api", "internal/ffi/vfs"];

/** A native plugin that attaches nothing. */
const plugin = `#!/bin/sh
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/proc/self/ns/net"}]}'
`;

describe.skipIf(missing("built-in modules of a one-shot call", missingBuild))(
  "a one-shot call loads few built-in modules",
  () => {
    let plexus: Installation;
    let list: string;
    let bareProgramModules: ReadonlySet<string>;

    beforeAll(async () => {
      plexus = installPlexus({ serving: "one-shot" });
      list = join(plexus.directory, "modules");
      const hook = join(plexus.directory, "hook.cjs");
      const bare = join(plexus.directory, "bare.cjs");
      // The hook writes the list under another name and renames it, because the engine ends after the runtime has its answer.
      writeFileSync(
        hook,
        `const { renameSync, writeFileSync } = require("node:fs");
process.on("exit", () => {
  writeFileSync(${JSON.stringify(`${list}.new`)}, process.moduleLoadList.join("\\n"));
  renameSync(${JSON.stringify(`${list}.new`)}, ${JSON.stringify(list)});
});
`,
      );
      writeFileSync(bare, 'new (require("node:net").Socket)({ fd: 3 }).destroy();');
      const node = join(plexus.home, "bin", "node");
      const hooked = `#!/bin/sh\nexec '${process.execPath}' --require '${hook}' "$@"\n`;
      rmSync(node);
      writeFileSync(node, hooked, { mode: 0o755 });
      writeFileSync(join(plexus.cniPath, "main"), plugin, { mode: 0o755 });
      spawnSync(node, [bare], { env: {}, stdio: ["ignore", "ignore", "ignore", "pipe"] });
      bareProgramModules = new Set(await loaded());
    });
    afterAll(() => plexus.dispose());

    /** Waits for the end of the engine and answers the modules that it had loaded. */
    const loaded = async (): Promise<readonly string[]> => {
      for (const end = Date.now() + 120_000; !existsSync(list) && Date.now() < end;) await sleep(5);
      renameSync(list, `${list}.read`);
      const lines = readFileSync(`${list}.read`, "utf8").split("\n");
      return lines.flatMap((line) => /^NativeModule (?<name>.+)$/.exec(line)?.groups?.["name"] ?? []);
    };

    test.each<[verb: string, modules: readonly string[]]>([
      ["VERSION", scriptModules],
      ["ADD", [...ffi, ...scriptModules]],
      ["CHECK", [...ffi, ...scriptModules]],
      ["DEL", [...ffi, ...scriptModules]],
    ])("%s", async (verb, modules) => {
      const config = {
        cniVersion: "1.0.0",
        name: "pods",
        type: "plexus",
        cniDir: plexus.state("cni"),
        runDir: plexus.state("run"),
        delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "main" }] }],
      };
      const env = { PLEXUS_SOCKET: join(plexus.directory, "none") };
      const call = { verb, containerId: "c", netns: "/proc/self/ns/net", ifname: "eth0", config, env };
      expect(await plexus.call(call)).toMatchObject({ status: 0, stderr: "" });
      expect((await loaded()).filter((name) => !bareProgramModules.has(name)).toSorted()).toEqual(modules);
    });
  },
);
