// Makes V8 compile frequently called functions sooner. By default V8 waits for 400 calls, and for 500 calls without a new type. An attachment
// calls most functions of the daemon and of a sandbox process a few times: slow code would serve hundreds of pods. The optimizing compiler
// keeps its default: compiling one function takes it as much CPU time as a pod.

import { setFlagsFromString } from "node:v8";

/** Numbers of calls before a function is compiled: the value set here and V8's default. */
const flags = [
  { name: "invocation-count-for-maglev", value: 50, v8Default: 400 },
  { name: "minimum-invocations-after-ic-update", value: 50, v8Default: 500 },
] as const;

/** Sets the flags for the rest of the process. */
export function tierUpSooner(): void {
  for (const { name, value } of flags) setFlagsFromString(`--${name}=${value}`);
  // The code cache is written at the end and valid only for the same flags. The next process loads it without these flags.
  process.on("exit", () => {
    for (const { name, v8Default } of flags) setFlagsFromString(`--${name}=${v8Default}`);
  });
}

/** The flags with V8's defaults, for a test: another release may have other flags. */
export const defaultFlags: readonly string[] = flags.map(({ name, v8Default }) => `--${name}=${v8Default}`);
