// Compares the delegate with native host-local: generated networks and sequences of calls, on separate directories and on a directory that both
// use alternately. Results must be equal, and directories must be equal byte for byte after every call.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { referenceReleases } from "../../../lab/reference-releases.ts";
import { rounds } from "../../../lab/rounds.ts";
import { testSeed } from "../../../lab/random-from.ts";
import { missing } from "../../../lab/requires.ts";
import type { Answer, Ipam } from "./calls.ts";
import { contents } from "./directory.ts";
import { native, type NativeIpam } from "./native.ts";
import { callOf, scenarios, type Scenario, type Step } from "./scenarios.ts";
import { wasm } from "./wasm.ts";

/** The number of scenarios. Each has a configuration and four to nine calls, which run three times. */
const RUNS = rounds(240);

/** The compared part of an answer. Messages and codes of the delegate differ from the reference's. */
function comparable(answer: Answer): unknown {
  return answer.ok ? answer : { ok: false };
}

async function play(scenario: Scenario, step: Step, dataDir: string, ipam: Ipam): Promise<Answer> {
  const { verb, containerId, ifname } = step;
  return ipam.call({ verb, containerId, ifname, ...callOf(scenario, step, dataDir) });
}

describe.each(referenceReleases)("$release", (reference) => {
  describe.skipIf(missing("differential test of ipam-host-local", reference.requires("host-local")))(
    "native host-local and the delegate",
    () => {
      let root: string;
      let delegate: Ipam;
      let one: NativeIpam;
      let other: NativeIpam;
      beforeAll(async () => {
        root = mkdtempSync(join(tmpdir(), "plexus-differential-"));
        delegate = await wasm({ directories: [root] });
        one = native(reference.plugin("host-local"));
        other = native(reference.plugin("host-local"));
      });
      afterAll(() => {
        one.close();
        other.close();
        rmSync(root, { recursive: true });
      });

      const counts = { steps: 0, successes: 0, failures: 0, v4: 0, v6: 0, exhausted: 0 };
      let run = 0;

      test(`agree on ${RUNS} generated networks, on separate directories and alternately on one`, async () => {
        await fc.assert(
          fc.asyncProperty(scenarios, async (scenario) => {
            const directory = join(root, String(run++));
            const directories = {
              native: join(directory, "native"),
              wasm: join(directory, "wasm"),
              mixed: join(directory, "mixed"),
            };
            for (const [index, step] of scenario.steps.entries()) {
              // Concurrent, because each call has its own directory.
              const [wanted, got, mixed] = await Promise.all([
                play(scenario, step, directories.native, one),
                play(scenario, step, directories.wasm, delegate),
                play(scenario, step, directories.mixed, index % 2 === 0 ? delegate : other),
              ]);
              const files = contents(directories.native);
              expect({
                step,
                native: wanted,
                wasm: comparable(got),
                mixed: comparable(mixed),
                files: { wasm: contents(directories.wasm), mixed: contents(directories.mixed) },
              }).toEqual({
                step,
                native: wanted,
                wasm: comparable(wanted),
                mixed: comparable(wanted),
                files: { wasm: files, mixed: files },
              });
              tally(wanted);
            }
            rmSync(directory, { recursive: true, force: true });
          }),
          { seed: testSeed("host-local calls", 20_261_121), numRuns: RUNS },
        );
      }, 600_000);

      test("the generated calls have enough successes, failures, families and full ranges", () => {
        expect(counts.steps).toBeGreaterThan(RUNS * 4);
        expect(counts.successes).toBeGreaterThan(RUNS * 2);
        expect(counts.failures).toBeGreaterThan(RUNS);
        expect(Math.min(counts.v4, counts.v6)).toBeGreaterThan(RUNS / 2);
        expect(counts.exhausted).toBeGreaterThan(RUNS / 24);
      });

      function tally(answer: Answer): void {
        counts.steps++;
        if (answer.ok) counts.successes++;
        else counts.failures++;
        if (!answer.ok && answer.msg.includes("no IP addresses available")) counts.exhausted++;
        for (const ip of answer.ok ? (answer.result?.ips ?? []) : []) counts[ip.address.includes(":") ? "v6" : "v4"]++;
      }
    },
  );
});
