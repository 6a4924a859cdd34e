// Whatever the bytes, admission answers; and what it admits stays contained.

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { plainRequests, recordingImports } from "../../../test/hostile/components/requests.ts";
import { buildWat } from "../../../test/hostile/components/wat.ts";
import { InProcessRunner } from "../in-process.ts";
import { defaultLimits } from "../limits.ts";
import { Admission } from "./admit.ts";

const limits = { ...defaultLimits, timeMs: 20 };
const all = ["log", "leases", "resolver"];
let component: Uint8Array;

beforeAll(async () => {
  component = await buildWat("good-leases");
});

describe("admission", () => {
  it("refuses a component that is cut short at any byte", () => {
    const admission = new Admission();
    for (let length = 0; length < component.length; length += 1) {
      const result = admission.admit(component.subarray(0, length), { granted: all, limits });
      expect(result.ok, `cut at ${length}`).toBe(false);
      if (!result.ok) expect(result.fault.kind).toBe("COMPONENT_REFUSED");
    }
  });

  it("answers whatever bytes were changed, and what it then admits breaks nothing", () => {
    const runner = new InProcessRunner();
    let admitted = 0;
    const change = fc.record({ at: fc.nat(), to: fc.nat(255), how: fc.constantFrom("set", "insert", "remove", "flip") });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const bytes = [...component];
        for (const { at, to, how } of changes) {
          const place = at % bytes.length;
          if (how === "set") bytes[place] = to;
          else if (how === "flip") bytes[place] = (bytes[place] ?? 0) ^ (1 << (to % 8));
          else if (how === "insert") bytes.splice(place, 0, to);
          else bytes.splice(place, 1);
        }
        const result = new Admission().admit(Uint8Array.from(bytes), { granted: all, limits });
        if (!result.ok) return;
        admitted += 1;
        const { imports, calls } = recordingImports();
        for (const verb of ["add", "gc", "status"] as const) {
          const request = plainRequests[verb];
          const outcome = runner.callNow(
            { component: result.value, verb, request, limits, deadlineMs: 20 } as Parameters<typeof runner.callNow>[0],
            imports,
          );
          expect(outcome.ok ? "" : outcome.fault.kind).not.toBe("INTERNAL");
          if (outcome.ok) expect(outcome.value.report.memoryBytes).toBeLessThanOrEqual(limits.memoryPages * 65_536);
        }
        for (const [name] of calls) expect(String(name)).toMatch(/^(log|leases)\./);
      }),
      { numRuns: 2000 },
    );
    // Most bytes of code and names of locals may change without harm: the property would be empty otherwise.
    expect(admitted).toBeGreaterThan(100);
  });

  it("E-7: gives a component no more than what it declares and the administrator grants", () => {
    const admission = new Admission();
    for (let mask = 0; mask < 2 ** all.length; mask += 1) {
      const granted = all.filter((_, index) => (mask & (1 << index)) !== 0);
      const result = admission.admit(component, { granted, limits });
      expect(result.ok).toBe(granted.includes("leases"));
      if (result.ok) expect(result.value.capabilities).toEqual(["leases"]);
      else expect(result.fault).toMatchObject({ kind: "CAPABILITY_NOT_GRANTED", code: 7 });
    }
  });
});
