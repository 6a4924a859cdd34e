// V8's garbage collector, asked for by name.

import { runInNewContext } from "node:vm";

/** `last-resort` also drops what V8 can make again, such as bytecode that has not run for a while, and returns the pages. */
export type Collection = "usual" | "last-resort";

let collector: ((options?: object) => unknown) | undefined;

/** Collects garbage in this thread: some milliseconds, as last resort some 20. */
export function collectGarbage(collection: Collection): void {
  collector ??= load();
  if (collection === "usual") collector();
  else collector({ type: "major", flavor: collection });
}

// Only contexts that are made after the flag was set have `gc`. node:v8 is loaded here, because it takes 2 ms and hardly any call collects.
function load(): (options?: object) => unknown {
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return typeof collect === "function"
    ? (options) => Reflect.apply(collect, undefined, options === undefined ? [] : [options])
    : () => undefined;
}
