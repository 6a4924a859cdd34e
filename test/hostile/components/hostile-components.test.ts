// Every hostile component in both runners: the call ends with the expected verdict, and the next call of the same runner succeeds.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { defaultLimits, type Limits } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import type { GuestRunner } from "../../../host/sandbox/runner.ts";
import { bundleGuestProgram } from "./guest-program.ts";
import { hostileComponents } from "./index.ts";
import { plainRequests, recordingImports } from "./requests.ts";
import { buildWat } from "./wat.ts";
import { cpuMs } from "../../lab/cpu-ms.ts";

// A component that should end for another reason never reaches the time limit. Components that should exceed the limit get 150 ms.
const limits: Limits = { ...defaultLimits, timeMs: 60_000 };
const spinning: Limits = { ...limits, timeMs: 150 };
const granted = ["log", "leases"];
const admission = new Admission();
let good: AdmittedComponent;

beforeAll(async () => {
  const admitted = admission.admit(await buildWat("good-logger"), { granted, limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  good = admitted.value;
});

describe("a hostile component is refused at admission", () => {
  for (const fixture of hostileComponents.filter(({ at }) => at === "admission")) {
    it(`${fixture.name}: ${fixture.about}`, async () => {
      const bytes = await fixture.build();
      const startedAt = cpuMs();
      const result = new Admission().admit(bytes, { granted: fixture.granted, limits });
      const took = cpuMs() - startedAt;
      const msg = expect.stringContaining(fixture.message);
      expect(result).toMatchObject({ ok: false, fault: { kind: fixture.verdict, msg } });
      const text = result.ok ? "" : result.fault.msg;
      expect(text.length).toBeLessThan(2000);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u001F\u007F]/);
      // A failing admission would take several seconds.
      expect(took).toBeLessThan(1000);
    });
  }
});

const runners: readonly (readonly [string, () => Promise<GuestRunner>])[] = [
  ["in this process", async () => new InProcessRunner()],
  ["in a sandbox process", async () => new ProcessPool({ entry: await bundleGuestProgram(), warm: 2 })],
];

describe.each(runners)("%s, a hostile component is contained", (_, make) => {
  let runner: GuestRunner;
  beforeAll(async () => {
    runner = await make();
  });
  afterAll(() => runner.close());

  for (const fixture of hostileComponents.filter(({ at }) => at === "call")) {
    it(`E-10: ${fixture.name}: ${fixture.about}`, async () => {
      const admitted = admission.admit(await fixture.build(), { granted: fixture.granted, limits });
      if (!admitted.ok) throw new Error(admitted.fault.msg);
      const { imports, calls } = recordingImports();
      const allowed = fixture.verdict === "LIMIT_TIME" ? spinning : limits;
      const call = {
        component: admitted.value,
        verb: "add",
        request: plainRequests.add,
        limits: allowed,
        deadlineMs: 120_000,
      } as const;
      const result = await runner.call(call, imports);
      expect(result.ok ? "OK" : result.fault.kind).toBe(fixture.verdict);
      expect(result.ok ? "" : result.fault.msg).toContain(fixture.message);
      expect(calls.filter(([name]) => name === "log.write").length).toBeLessThanOrEqual(limits.logLines + 1);

      const after = recordingImports();
      const next = await runner.call({ ...call, component: good, limits }, after.imports);
      expect(next).toMatchObject({ ok: true, value: { value: { interfaces: [], ips: [], routes: [] } } });
      expect(after.calls).toEqual([["log.write", "info", "hello"]]);
    });
  }
});

describe("an error that a delegate answers", () => {
  it("E-15: keeps its message without escape sequences and gets a code in CNI's range", async () => {
    const admitted = admission.admit(await buildWat("own-error"), { granted, limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    const call = { component: admitted.value, verb: "add", request: plainRequests.add, limits, deadlineMs: 60_000 } as const;
    const result = new InProcessRunner().callNow(call, {});
    expect(result).toMatchObject({ ok: false, fault: { kind: "DELEGATE_FAILED", code: 999, msg: "no address left" } });
  });
});
