// The delegate against native host-local: generated networks and sequences of calls, on directories of their own and on
// one that both use in turn. Answers must say the same, and directories must be equal byte for byte after every call.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, referencePlugins } from "../../harness/requires.ts";
import type { Answer, Ipam } from "./calls.ts";
import { contents } from "./directory.ts";
import { native, type NativeIpam } from "./native.ts";
import { callOf, scenarios, type Scenario, type Step } from "./scenarios.ts";
import { wasm } from "./wasm.ts";

/** Scenarios; each is a configuration with four to nine calls, made three times. */
const RUNS = 240;

let root: string;
let delegate: Ipam;
let reference: NativeIpam;
let other: NativeIpam;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-differential-"));
  delegate = await wasm({ directories: [root] });
  reference = native();
  other = native();
});
afterAll(() => {
  reference.close();
  other.close();
  rmSync(root, { recursive: true });
});

/** What must be equal: messages and codes are the delegate's own. */
function comparable(answer: Answer): unknown {
  return answer.ok ? answer : { ok: false };
}

async function play(scenario: Scenario, step: Step, dataDir: string, ipam: Ipam): Promise<Answer> {
  const { verb, containerId, ifname } = step;
  return ipam.call({ verb, containerId, ifname, ...callOf(scenario, step, dataDir) });
}

describe.skipIf(missing("differential test of ipam-host-local", referencePlugins("host-local")))(
  "native host-local and the delegate",
  () => {
    const seen = { steps: 0, successes: 0, failures: 0, v4: 0, v6: 0, exhausted: 0 };
    let run = 0;

    test(`agree on ${RUNS} generated networks, each on a directory of its own and both on one in turn`, async () => {
      await fc.assert(
        fc.asyncProperty(scenarios, async (scenario) => {
          const own = join(root, String(run++));
          const directories = { native: join(own, "native"), wasm: join(own, "wasm"), mixed: join(own, "mixed") };
          for (const [index, step] of scenario.steps.entries()) {
            // Side by side: each on its own directory.
            const [wanted, got, mixed] = await Promise.all([
              play(scenario, step, directories.native, reference),
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
          rmSync(own, { recursive: true, force: true });
        }),
        { seed: 20_261_121, numRuns: RUNS },
      );
    }, 120_000);

    test("the generated calls cover what matters", () => {
      expect(seen.steps).toBeGreaterThan(RUNS * 4);
      expect(seen.successes).toBeGreaterThan(RUNS * 2);
      expect(seen.failures).toBeGreaterThan(RUNS);
      expect(Math.min(seen.v4, seen.v6)).toBeGreaterThan(RUNS / 2);
      expect(seen.exhausted).toBeGreaterThan(10);
    });

    function tally(answer: Answer): void {
      seen.steps++;
      if (answer.ok) seen.successes++;
      else seen.failures++;
      if (!answer.ok && answer.msg.includes("no IP addresses available")) seen.exhausted++;
      for (const ip of answer.ok ? (answer.said?.ips ?? []) : []) seen[ip.address.includes(":") ? "v6" : "v4"]++;
    }
  },
);
