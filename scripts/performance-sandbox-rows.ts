// The descriptions and targets of the benchmark's rows about the jail of sandbox processes.

import { below, comparison, type Meaning, ratioAtMost } from "./performance-target.ts";

const levels = ["none", "process", "strict"] as const;

const withLevel = { none: "no jail", process: "the jail of level process", strict: "the jail of level strict" } as const;

/** One kind of row. */
interface Kind {
  readonly what: string;
  /** Maximum ratio of level `process`. */
  readonly bound: number;
  /** Maximum ratio of level `strict`, which takes a new process for each call; undefined: no bound. */
  readonly strictBound: number | undefined;
}

const kinds: Readonly<Record<string, Kind>> = {
  "first-call": {
    what: "start of a sandbox process, admission of a component and its first call",
    bound: 1.25,
    strictBound: 1.25,
  },
  call: { what: "a later call of the component", bound: 1.05, strictBound: 10 },
  c32: { what: "32 calls of the component at once, until the last answer", bound: 1.05, strictBound: undefined },
  rss: { what: "RSS of an idle sandbox process with its launcher", bound: 1.02, strictBound: 1.02 },
};

/** The rows `sandbox-…`. The baseline of each is the same without a jail, in turns. */
export const sandboxRows: readonly (readonly [string, Meaning])[] = Object.entries(kinds).flatMap(
  ([kind, { what, bound, strictBound }]) =>
    levels.map((level): readonly [string, Meaning] => {
      const text = `${what}, with ${withLevel[level]}, against the same without a jail`;
      if (level === "none") return [`sandbox-${kind}-${level}`, { what: text, target: comparison }];
      const maxRatio = level === "strict" ? strictBound : bound;
      if (maxRatio === undefined)
        return [`sandbox-${kind}-${level}`, { what: text, target: "none: each call takes a new process" }];
      return [`sandbox-${kind}-${level}`, { what: text, target: `ratio at most ${maxRatio}`, met: ratioAtMost(maxRatio) }];
    }),
);

const againstNew = "as a copy of the zygote, against the same as a new Node of the same launch server, in turns";

/** The rows `sandbox-…-copy`. */
export const copyRows: readonly (readonly [string, Meaning])[] = [
  [
    "sandbox-first-call-copy",
    {
      what: `start of a sandbox process and its first call of an examined component, ${againstNew}`,
      target: "ratio at most 0.5",
      met: ratioAtMost(0.5),
    },
  ],
  [
    "sandbox-component-copy",
    {
      what: `examination and first call of a component in an idle sandbox process, ${againstNew}`,
      target: "at most 15 ms",
      met: below(15),
    },
  ],
  [
    "sandbox-call-strict-copy",
    { what: `one call with a process of its own (level strict), ${againstNew}`, target: "at most 4 ms", met: below(4) },
  ],
  [
    "sandbox-call-warm-copy",
    {
      what: `one call in a process that has run the component before, ${againstNew}`,
      target: "none of its own",
    },
  ],
];
