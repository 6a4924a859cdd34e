// A CPU profile of a component's calls, in V8's format: with the guest's functions, by name if the component has names.

import { Session } from "node:inspector/promises";

/** Microseconds between samples: a call takes a few hundred. */
const samplingUs = 100;
const profiledMs = 1000;
const minCalls = 20;

/** Repeats `call` for a second at least, after a warm-up, and answers the number of calls and the text of a .cpuprofile. */
export async function profileOf(call: () => unknown): Promise<{ readonly calls: number; readonly text: string }> {
  const session = new Session();
  session.connect();
  try {
    call();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: samplingUs });
    await session.post("Profiler.start");
    const until = performance.now() + profiledMs;
    let calls = 0;
    for (; calls < minCalls || performance.now() < until; calls += 1) call();
    const { profile } = await session.post("Profiler.stop");
    return { calls, text: JSON.stringify(profile) };
  } finally {
    session.disconnect();
  }
}
