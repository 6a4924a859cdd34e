// Instances that are made in advance for the next call.

import { expect, it } from "vitest";
import { plainRequests } from "../../../test/hostile/components/requests.ts";
import { buildWat } from "../../../test/hostile/components/wat.ts";
import { Admission } from "../admission/admit.ts";
import { CompiledComponents } from "../compile.ts";
import { defaultLimits } from "../limits.ts";
import { callGuest, type Callable, prepareInstances } from "./call.ts";
import type { CapabilityCall } from "./link.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };

async function compiled(name: string): Promise<Callable> {
  const admitted = new Admission().admit(await buildWat(name), { granted: ["log", "leases"], limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  return new CompiledComponents().add(admitted.value);
}

function add(component: Callable, timeMs = limits.timeMs, capability: CapabilityCall = () => undefined) {
  const call = { verb: "add", request: plainRequests.add, limits: { ...limits, timeMs }, deadlineMs: 120_000 } as const;
  return callGuest(component, call, capability);
}

it("E-9: no code of a guest runs before its call, and its start function counts as the call's time", async () => {
  const component = await compiled("spin-in-start");
  prepareInstances(component, false);
  // The guest's start function never returns, so it has not run.
  expect(component.prepared).toBeDefined();
  expect(add(component, 100)).toMatchObject({ kind: "broken", fault: "LIMIT_TIME" });
});

it("serve one call, and the next call has none of its memory", async () => {
  const component = await compiled("memory-touched");
  prepareInstances(component, false);
  const { prepared } = component;
  prepareInstances(component, false);
  expect(component.prepared).toBe(prepared);
  const answered = add(component);
  expect(component.prepared).toBeUndefined();
  prepareInstances(component, false);
  expect(component.prepared).not.toBe(prepared);
  expect(add(component)).toMatchObject({ kind: "answered", answer: Reflect.get(answered, "answer") });
});

it("are absent if they cannot be made, and the call reports the error", async () => {
  const component = await compiled("good-leases");
  const broken: Callable = { ...component, modules: [] };
  prepareInstances(broken, false);
  expect(broken.prepared).toBeUndefined();
  expect(add(broken)).toMatchObject({ kind: "broken", fault: "INTERNAL" });
});
