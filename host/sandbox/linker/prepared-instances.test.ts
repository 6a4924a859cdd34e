// Instances that are made before the call that will have them.

import { expect, it } from "vitest";
import { plainRequests } from "../../../test/hostile/components/requests.ts";
import { buildWat } from "../../../test/hostile/components/wat.ts";
import { Admission } from "../admission/admit.ts";
import { CompiledComponents } from "../compile.ts";
import { defaultLimits } from "../limits.ts";
import { callGuest, type Callable, makeReady } from "./call.ts";
import type { CapabilityCall } from "./link.ts";

const limits = { ...defaultLimits, timeMs: 100 };

async function compiled(name: string): Promise<Callable> {
  const admitted = new Admission().admit(await buildWat(name), { granted: ["log", "leases"], limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  return new CompiledComponents().add(admitted.value);
}

function add(component: Callable, capability: CapabilityCall = () => undefined) {
  return callGuest(component, { verb: "add", request: plainRequests.add, limits, deadlineMs: 5000 }, capability);
}

it("E-9: nothing of a guest runs before its call, and then on the call's time", async () => {
  const component = await compiled("spin-in-start");
  makeReady(component, false);
  // Its start function would never have come back.
  expect(component.ready).toBeDefined();
  expect(add(component)).toMatchObject({ kind: "broken", fault: "LIMIT_TIME" });
});

it("are one call's, whatever becomes of it, and have nothing of another's", async () => {
  const component = await compiled("memory-touched");
  makeReady(component, false);
  const { ready } = component;
  makeReady(component, false);
  expect(component.ready).toBe(ready);
  const answered = add(component);
  expect(component.ready).toBeUndefined();
  makeReady(component, false);
  expect(component.ready).not.toBe(ready);
  expect(add(component)).toMatchObject({ kind: "answered", answer: Reflect.get(answered, "answer") });
});

it("are not made where they can't be: the call says why", async () => {
  const component = await compiled("good-leases");
  const broken: Callable = { ...component, modules: [] };
  makeReady(broken, false);
  expect(broken.ready).toBeUndefined();
  expect(add(broken)).toMatchObject({ kind: "broken", fault: "INTERNAL" });
});
