// The files of TypeScript that an ADD through the daemon walks: those with a function that runs between the request and the answer. The daemon has served an ADD
// before, so that what runs once is not counted. A file that an ADD walks is a file that a newcomer must read.

import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import type { TestDaemon } from "../../lab/daemon.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { startSourceDaemon } from "../../lab/source-daemon.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

/**
 * The most files of each kind of ADD: 96 and 141 were measured. Timers of the daemon add four or five, and the start of a further sandbox process six. Lower the numbers
 * with each file that goes.
 */
const maxFiles = { native: 102, wasm: 152 };

describe.skipIf(missingForMixed("walked files"))("an ADD through the daemon walks", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let list = "";
  beforeAll(async () => {
    stage = openStage(mixedInstallation);
    list = join(stage.plexus.directory, "walked.json");
    daemon = await startSourceDaemon(join(stage.plexus.directory, "source"), [
      'import { renameSync, writeFileSync } from "node:fs";',
      'import { Session } from "node:inspector";',
      "const session = new Session();",
      "session.connect();",
      'session.post("Profiler.enable");',
      'session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });',
      // Each coverage begins anew after the one before.
      'process.on("SIGUSR2", () => session.post("Profiler.takePreciseCoverage", (_, { result }) => {',
      "  const ran = ({ functions }) => functions.some(({ ranges: [{ count }] }) => count > 0);",
      `  writeFileSync(${JSON.stringify(`${list}.new`)}, JSON.stringify(result.filter(ran).map(({ url }) => url)));`,
      `  renameSync(${JSON.stringify(`${list}.new`)}, ${JSON.stringify(list)});`,
      "}));",
    ]);
  });
  afterAll(async () => {
    await daemon?.stop();
    stage?.dispose();
  });

  /** The files that ran since the last call of this function, as paths from the repository's root. */
  async function takeWalked(): Promise<readonly string[]> {
    daemon.signal("SIGUSR2");
    await expect.poll(() => existsSync(list), { timeout: 60_000 }).toBe(true);
    const urls = JSON.parse(readFileSync(list, "utf8")) as readonly string[];
    renameSync(list, `${list}.read`);
    const start = `file://${root}/`;
    return urls
      .filter((url) => url.startsWith(start) && url.endsWith(".ts"))
      .map((url) => url.slice(start.length))
      .toSorted();
  }

  async function walkedBy(name: string, plugins: readonly object[]): Promise<readonly string[]> {
    const add = async (containerId: string): Promise<void> => {
      const env = { PLEXUS_SOCKET: daemon.socket };
      const config = stage.network(plugins);
      const call = { containerId, netns: stage.pod().path, ifname: "eth0", config, env };
      const { status, stdout } = await stage.request({ verb: "ADD", ...call });
      expect([status, stdout]).toEqual([0, expect.stringContaining("cniVersion")]);
    };
    await add(`${name}-first`);
    await takeWalked();
    await add(`${name}-second`);
    return takeWalked();
  }

  test.each([
    // Leases in the default directory would be other tests' findings.
    [
      "native",
      () => [
        bridgeStep({
          ipam: { type: "host-local", subnet: "10.11.0.0/24", dataDir: stage.leases },
          bridge: "br1",
        }),
      ],
    ],
    ["wasm", () => [bridgeStep(), shaperStep]],
  ] as const)("no more files than these with %s plugins", async (kind, plugins) => {
    const walked = await walkedBy(kind, plugins());
    // The list shows a reader which files there are.
    expect(walked.length > maxFiles[kind] ? walked : []).toEqual([]);
  });
});
