// How soon V8 compiles a function that is called again and again. Left to itself it waits for 400 calls and for 500 without news of the
// types that pass: an attachment calls most functions of the daemon and of a sandbox process once or a few times, so that hundreds of pods
// are served by slow code. The optimizing compiler proper comes as late as ever: compiling a function takes it a pod's worth of CPU time.

import { setFlagsFromString } from "node:v8";

/** How many calls of a function it takes, as it is here and as V8 has it. */
const flags = [
  { name: "invocation-count-for-maglev", ours: 50, usual: 400 },
  { name: "minimum-invocations-after-ic-update", ours: 50, usual: 500 },
] as const;

/** From now on, for as long as the process lives. */
export function tierUpSooner(): void {
  for (const { name, ours } of flags) setFlagsFromString(`--${name}=${ours}`);
  // Code that V8 keeps at the end is only good for a process with the same flags, and this one loaded its own without.
  process.on("exit", () => {
    for (const { name, usual } of flags) setFlagsFromString(`--${name}=${usual}`);
  });
}

/** What is expected of V8 where nothing is set: another release may have other flags. */
export const usualFlags: readonly string[] = flags.map(({ name, usual }) => `--${name}=${usual}`);
