// Calls while no daemon listens: one-shot engines are bounded, and a daemon that is replaced fails no call.

import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import type { PodNamespace } from "../../lab/namespaces.ts";
import { missingForMixed, mixedInstallation, mixedNetwork, mixedSteps } from "../../lab/mixed-network.ts";
import { memoryOfKind, parentOf, pidsNaming } from "../../lab/processes.ts";
import { nothing, openStage, shown, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("calls without a daemon"))("without a daemon", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  const socketOf = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  // On a busy machine a running call may take longer than the default, after which a daemon that stops aborts the call.
  const start = (): Promise<TestDaemon> => startDaemon({ socket: socketOf(), args: ["--grace-ms", "60000"] });
  const call = (verb: string, containerId: string, pod: PodNamespace, env: Readonly<Record<string, string>> = {}) =>
    stage.request({
      verb,
      containerId,
      netns: pod.path,
      ifname: "eth0",
      config: mixedNetwork(stage),
      env: { PLEXUS_SOCKET: socketOf(), ...env },
      deadlineMs: 120_000,
    });

  test(
    "a burst of 8 pods has at most 4 one-shot engines at any moment, and every call succeeds",
    { timeout: 240_000 },
    async () => {
      // A call waits for its place among the engines for half a minute, which must suffice on a busy machine.
      const pods = Array.from({ length: 8 }, () => stage.pod());
      const script = join(stage.plexus.cniPath, ".plexus", "plexusd.cjs");
      const most = { engines: 0, mebibytes: 0 };
      const sampling = new AbortController();
      const sampled = (async () => {
        while (!sampling.signal.aborted) {
          // A scan takes a while, and an engine may replace another meanwhile. Engines of two scans ran together between them. A child of an
          // engine has the engine's command line until it executes the launcher.
          const before = new Set(pidsNaming(script));
          const engines = pidsNaming(script).filter((pid) => before.has(pid) && !before.has(parentOf(pid)));
          most.engines = Math.max(most.engines, engines.length);
          most.mebibytes = Math.max(most.mebibytes, memoryOfKind(engines, "RssAnon"));
          await setTimeout(20);
        }
      })();
      const begun = performance.now();
      for (const verb of ["ADD", "DEL"]) {
        const answers = await Promise.all(pods.map((pod, number) => call(verb, `pod-${number}`, pod)));
        expect(answers.filter(({ status }) => status !== 0).map(({ stdout }) => stdout)).toEqual([]);
      }
      const ms = performance.now() - begun;
      sampling.abort();
      await sampled;
      process.stderr.write(
        `burst of 8 pods, ADD and DEL: ${most.engines} engines, ${most.mebibytes} MiB anonymous, ${Math.round(ms)} ms\n`,
      );
      expect(most.engines).toBeGreaterThan(1);
      expect(most.engines).toBeLessThanOrEqual(4);
      expect(stage.left()).toEqual(nothing);
    },
  );

  describe.each([
    ["with one-shot engines on the node", {}],
    ["without", { PLEXUS_HOME: "/nowhere" }],
  ] as const)("while the daemon is replaced, %s", (_, env) => {
    test(
      "a stream of ADDs and DELs has no failed call, each is carried out once, and nothing leaks",
      { timeout: 300_000 },
      async () => {
        let daemon = await start();
        const end = new AbortController();
        const failures: string[] = [];
        const containers: string[] = [];
        let longest = 0;
        const stream = async (worker: number): Promise<void> => {
          const pod = stage.pod();
          for (let turn = 0; !end.signal.aborted; turn++) {
            const containerId = `pod-${worker}-${turn}`;
            containers.push(containerId);
            for (const verb of ["ADD", "DEL"]) {
              const { status, stdout, ms } = await call(verb, containerId, pod, env);
              longest = Math.max(longest, ms);
              if (status !== 0) failures.push(`${verb} ${containerId}: ${stdout}`);
            }
          }
        };
        const streams = Promise.all([0, 1, 2, 3].map(stream));
        for (let rolls = 0; rolls < 3; rolls++) {
          await setTimeout(1500);
          expect(await daemon.stop()).toBe(0);
          daemon = await start();
        }
        await setTimeout(1000);
        end.abort();
        await streams;
        await daemon.stop();
        expect(failures).toEqual([]);
        const steps = Map.groupBy(stage.steps(), ({ containerId }) => containerId);
        expect([...steps.keys()].toSorted()).toEqual(containers.toSorted());
        for (const [, each] of steps) expect(shown(each)).toEqual([...mixedSteps.ADD, ...mixedSteps.DEL]);
        expect(stage.left()).toEqual(nothing);
        process.stderr.write(`3 restarts, ${containers.length} pods: the longest call took ${Math.round(longest)} ms\n`);
      },
    );
  });

  test("a call that waits in the queue of a daemon that stops is served by the next one", { timeout: 60_000 }, async () => {
    const options = { socket: socketOf(), args: ["--calls", "1"] };
    const first = await startDaemon(options);
    const pods = [stage.pod(), stage.pod(), stage.pod()];
    const added = pods.map((pod, number) => call("ADD", `pod-${number}`, pod, { PLEXUS_HOME: "/nowhere" }));
    await setTimeout(100);
    expect(await first.stop()).toBe(0);
    const next = await startDaemon(options);
    expect((await Promise.all(added)).map(({ status, stdout }) => (status === 0 ? "" : stdout))).toEqual(["", "", ""]);
    const deleted = await Promise.all(pods.map((pod, number) => call("DEL", `pod-${number}`, pod, { PLEXUS_HOME: "/nowhere" })));
    expect(deleted.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(await next.stop()).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });
});
