import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { warmUpComponent } from "../admission/warm-up-component.ts";
import { Admission } from "../admission/admit.ts";
import { defaultLimits } from "../limits.ts";
import { removeSharedRandomness } from "./shared-randomness.ts";
import { rehearse, rehearseCall } from "./rehearsal.ts";

test("FI-43: no code of a sandbox process draws random numbers that other copies have, too", () => {
  const context = createContext({ crypto: {} });
  const inContext = (text: string): unknown => runInContext(text, context);
  const global = inContext("globalThis");
  const math = inContext("Math");
  if (typeof global !== "object" || global === null) throw new Error("no global object");
  removeSharedRandomness({ math: math as Math, global });
  expect(() => inContext("Math.random()")).toThrow("the same numbers in all copies");
  expect(inContext("typeof crypto")).toBe("undefined");
});

test("FI-43: examinations and calls need no random numbers", async () => {
  const math = { random: Math.random };
  const drawn = Math.random;
  let draws = 0;
  Math.random = () => {
    draws += 1;
    return drawn.call(math);
  };
  try {
    rehearseCall(await rehearse(2));
    const admitted = new Admission().admit(Buffer.from(warmUpComponent, "base64"), {
      granted: ["log", "leases"],
      limits: defaultLimits,
    });
    expect([admitted.ok, draws]).toEqual([true, 0]);
  } finally {
    Math.random = drawn;
  }
});
