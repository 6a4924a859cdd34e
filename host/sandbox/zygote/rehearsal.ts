// Runs everything that a sandbox process does, with a component of Plexus itself: V8 compiles the code and makes its memory before the first copy. The
// same call proves in a new copy that V8 works there.

import { warmUpComponent } from "../admission/warm-up-component.ts";
import { examineComponent } from "../admission/examine.ts";
import { CompiledComponents } from "../compile.ts";
import { defaultLimits } from "../limits.ts";
import { type Callable, callGuest, type CallOutcome, callSuspendable, type VerbCall } from "../linker/call.ts";

const call: VerbCall = {
  verb: "add",
  request: {
    call: { remainingMs: 1000, granted: ["leases"] },
    network: { cniVersion: "1.1.0", name: "rehearsal", config: "{}" },
    attachment: { containerId: "rehearsal", netns: "/rehearsal", ifname: "eth0", args: [] },
  },
  limits: defaultLimits,
  deadlineMs: 60_000,
};

/** The answer as a text; the reason if the guest gave none. */
function textOf(outcome: CallOutcome): string {
  return JSON.stringify(outcome.kind === "answered" ? outcome.answer : outcome.message);
}

/** Compiles the component anew. Throws if it is refused. */
function compile(key: string): Callable {
  const examined = examineComponent(Buffer.from(warmUpComponent, "base64"), defaultLimits);
  if (!examined.ok) throw new Error(examined.fault.msg);
  const { plan, modules } = examined.value;
  return new CompiledComponents().add({ key, plan, modules });
}

/** A call whose import answers at once. Answers the text of the result. */
export function rehearseCall(component: Callable): string {
  return textOf(callGuest(component, call, () => []));
}

/** Calls of both kinds, and an examination for each round. Answers the component for `rehearseCall`. */
export async function rehearse(rounds: number): Promise<Callable> {
  let component = compile("rehearsal");
  for (let round = 0; round < rounds; round++) {
    component = compile("rehearsal");
    rehearseCall(component);
    await callSuspendable(component, call, () => Promise.resolve([])).outcome;
  }
  return component;
}
