// Bad plugins: what each kind of misbehaviour on ADD must come to (checklist A-07, L-10 to L-12).

import type { FailingPlugin, ToleratedPlugin } from "./bad-input.ts";

const notAResult = [
  ["prints-nothing", "nothing at all", /no|empty/],
  ["prints-array", "a list", /object|list/],
  ["prints-string", "a text", /object|string/],
  ["prints-html", "HTML", /JSON/],
  ["prints-half", "half a result", /JSON/],
  ["json-then-garbage", "a result and then garbage", /JSON/],
  ["two-results", "two results", /JSON/],
  ["error-with-success", "an error and exits with 0", /code|error/],
  ["version-of-number", "a cniVersion that is a number", /cniVersion/],
  ["ips-of-string", "ips that are a text", /ips/],
  ["bad-address", "an address that is none", /ips.*address|10\.0\.0\.256/],
  ["bad-prefix", "a prefix length of 33", /ips.*address|10\.0\.0\.2\/33/],
  ["bad-route", "a route to everywhere", /routes.*dst|everywhere/],
  ["invalid-utf8", "bytes that are no UTF-8", /UTF-8/],
  ["deep-nesting", "100 000 nested lists", /deep|nest/],
] as const;

export const failingPlugins: readonly FailingPlugin[] = [
  ...notAResult.map(([plugin, what, names]) => ({
    title: `A-07, L-12: a plugin that prints ${what} fails the ADD`,
    plugin,
    code: 6,
    names,
  })),
  {
    title: "L-12: a plugin that prints a result of an unknown version fails the ADD",
    plugin: "wrong-version",
    code: 6,
    names: /9\.9\.9/,
  },
  {
    title: "A-07: a plugin that prints 1 GiB is cut off and fails the ADD",
    plugin: "floods-stdout",
    code: 6,
    names: /floods-stdout/,
  },
  {
    title: "L-11: a plugin that prints a result and exits with 1 fails the ADD",
    plugin: "success-with-failure",
    code: 999,
    names: /success-with-failure/,
  },
  {
    title: "L-11: a plugin that fails without a word is named with its exit status",
    plugin: "fails-silently",
    code: 999,
    names: /fails-silently/,
  },
  { title: "L-11: a plugin that fails on stderr is quoted", plugin: "fails-on-stderr", code: 999, names: /the disk is on fire/ },
  { title: "L-11: a plugin that fails with text is quoted", plugin: "fails-with-text", code: 999, names: /panic/ },
  { title: "L-11: a plugin's own code and message survive", plugin: "fails-with-code", code: 123, names: /own code/ },
  {
    title: "L-11: escape sequences of a plugin's message don't reach the terminal",
    plugin: "fails-with-escape",
    code: 100,
    names: /red second line$/,
  },
  {
    title: "L-11: an error whose code is a text is a failure all the same",
    plugin: "fails-with-code-of-text",
    code: 999,
    names: /fails-with-code-of-text/,
  },
  { title: "A plugin that dies of a signal fails the ADD", plugin: "dies-of-signal", code: 999, names: /signal|SIGSEGV/ },
  { title: "A plugin that closes its stdout fails the ADD", plugin: "closes-stdout", code: 6, names: /closes-stdout/ },
  {
    title: "A-07: a plugin that never ends is ended",
    plugin: "never-ends",
    code: 11,
    names: /never-ends.*(ms|time|deadline)|(ms|time|deadline).*never-ends/,
    stepTimeoutMs: 300,
  },
  {
    title: "A-07: a plugin that ignores SIGTERM is ended",
    plugin: "ignores-sigterm",
    code: 11,
    names: /ignores-sigterm/,
    stepTimeoutMs: 300,
  },
  {
    title: "A-07: a plugin that never ends is ended with its children",
    plugin: "never-ends-with-children",
    code: 11,
    names: /never-ends/,
    stepTimeoutMs: 300,
  },
];

export const toleratedPlugins: readonly ToleratedPlugin[] = [
  { title: "L-12: a plugin that prints null has an empty result", plugin: "prints-null" },
  { title: "A-07: a plugin that doesn't read its stdin succeeds", plugin: "never-reads-stdin" },
  { title: "A-07: a plugin that prints 1 GiB to stderr succeeds", plugin: "floods-stderr" },
  { title: "A-07: a plugin that leaves a daemon behind on its stdout succeeds", plugin: "leaves-daemon" },
  {
    title: "A-04: a plugin whose result has __proto__ and constructor in it pollutes nothing",
    plugin: "prototype",
  },
];
