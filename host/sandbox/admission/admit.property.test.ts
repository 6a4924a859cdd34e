// Properties of admission: any bytes are admitted or refused, and an admitted component stays within its limits and grants.

import { array, assert, boolean, constantFrom, nat, property, record } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { plainRequests, recordingImports } from "../../../test/hostile/components/requests.ts";
import { sectionsOf } from "../../../test/hostile/components/sections.ts";
import { buildWat } from "../../../test/hostile/components/wat.ts";
import { InProcessRunner } from "../in-process.ts";
import { defaultLimits } from "../limits.ts";
import { Admission } from "./admit.ts";

const limits = { ...defaultLimits, timeMs: 20 };
const all = ["log", "leases", "resolver"];
let component: Uint8Array;
let codeAt = 0;
let codeBytes = 1;

beforeAll(async () => {
  component = await buildWat("good-leases");
  const code = sectionsOf(sectionsOf(component).find(({ id }) => id === 1)?.content ?? component).find(({ id }) => id === 10);
  if (code === undefined) throw new Error("the fixture has no code");
  codeAt = code.content.byteOffset - component.byteOffset;
  codeBytes = code.content.length;
});

describe("admission", () => {
  it("refuses a component that is truncated at any byte", () => {
    const admission = new Admission();
    for (let length = 0; length < component.length; length += 1) {
      const result = admission.admit(component.subarray(0, length), { granted: all, limits });
      expect(result.ok ? "admitted" : result.fault.kind, `truncated at ${length}`).toBe("COMPONENT_REFUSED");
    }
  });

  it("admits or refuses a component with any changed bytes, and an admitted one stays within its limits", () => {
    const runner = new InProcessRunner();
    let admitted = 0;
    const change = record({ at: nat(), to: nat(255), how: constantFrom("set", "insert", "remove", "flip"), code: boolean() });
    assert(
      property(array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = [...component];
        for (const { at, to, how, code } of changes) {
          // Half of the changes are in the code, where they pass admission more often.
          const index = code ? codeAt + (at % codeBytes) : at % bytes.length;
          if (how === "set") bytes[index] = to;
          else if (how === "flip") bytes[index] = (bytes[index] ?? 0) ^ (1 << (to % 8));
          else if (how === "insert") bytes.splice(index, 0, to);
          else bytes.splice(index, 1);
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
          expect(outcome.ok ? outcome.value.report.memoryBytes : 0).toBeLessThanOrEqual(limits.memoryPages * 65_536);
        }
        for (const [name] of calls) expect(String(name)).toMatch(/^(log|leases)\./);
      }),
      { numRuns: 2000 },
    );
    // Without admitted components the property would be vacuous. Many bytes of the code can change without a refusal.
    expect(admitted).toBeGreaterThan(20);
  });

  it("E-7: gives a component only capabilities that it declares and the administrator grants", () => {
    const admission = new Admission();
    for (let mask = 0; mask < 2 ** all.length; mask += 1) {
      const granted = all.filter((_, index) => (mask & (1 << index)) !== 0);
      const result = admission.admit(component, { granted, limits });
      expect(result.ok ? result.value.capabilities : result.fault.kind).toEqual(
        granted.includes("leases") ? ["leases"] : "CAPABILITY_NOT_GRANTED",
      );
    }
  });
});
