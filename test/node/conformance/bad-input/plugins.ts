// Misbehaving plugins and the expected outcome of their ADD (checklist A-07, L-10 to L-12). The codes: 6, the result cannot be decoded; 11,
// try again later; 999, a failure without a code of the plugin. Other codes are the plugin's own.

import type { FailingPlugin, ToleratedPlugin } from "./bad-input.ts";

const notAResult = [
  ["prints-nothing", "nothing", /no|empty/],
  ["prints-array", "a list", /object|list/],
  ["prints-string", "a string", /object|string/],
  ["prints-html", "HTML", /JSON/],
  ["prints-half", "a truncated result", /JSON/],
  ["json-then-garbage", "a result followed by garbage", /JSON/],
  ["two-results", "two results", /JSON/],
  ["error-with-success", "an error and exits with 0", /code|error/],
  ["version-of-number", "a cniVersion that is a number", /cniVersion/],
  ["ips-of-string", "ips that are a string", /ips/],
  ["bad-address", "an invalid address", /ips.*address|10\.0\.0\.256/],
  ["bad-prefix", "a prefix length of 33", /ips.*address|10\.0\.0\.2\/33/],
  ["bad-route", 'a route with the destination "everywhere"', /routes.*dst|everywhere/],
  ["invalid-utf8", "bytes that are not UTF-8", /UTF-8/],
  ["deep-nesting", "100 000 nested lists", /deep|nested/],
] as const;

export const failingPlugins: readonly FailingPlugin[] = [
  ...notAResult.map(([plugin, output, message]) => ({
    title: `A-07, L-12: a plugin that prints ${output} fails the ADD`,
    plugin,
    code: 6,
    message,
  })),
  {
    title: "L-12: a plugin that prints a result of an unknown version fails the ADD",
    plugin: "wrong-version",
    code: 6,
    message: /9\.9\.9/,
  },
  {
    title: "A-07: a plugin that prints 1 GiB is cut off and fails the ADD",
    plugin: "floods-stdout",
    code: 6,
    message: /floods-stdout/,
  },
  {
    title: "L-11: a plugin that prints a result and exits with 1 fails the ADD",
    plugin: "success-with-failure",
    code: 999,
    message: /success-with-failure/,
  },
  {
    title: "L-11: a plugin that fails without output is named",
    plugin: "fails-silently",
    code: 999,
    message: /fails-silently/,
  },
  {
    title: "L-11: the error quotes the stderr of a failed plugin",
    plugin: "fails-on-stderr",
    code: 999,
    message: /the disk is on fire/,
  },
  { title: "L-11: the error quotes a failed plugin's text on stdout", plugin: "fails-with-text", code: 999, message: /panic/ },
  { title: "L-11: the error has the plugin's code and message", plugin: "fails-with-code", code: 123, message: /own code/ },
  {
    title: "L-11: escape sequences of a plugin's message are removed",
    plugin: "fails-with-escape",
    code: 100,
    message: /red second line$/,
  },
  {
    title: "L-11: an error whose code is a string fails the ADD",
    plugin: "fails-with-code-of-text",
    code: 999,
    message: /fails-with-code-of-text/,
  },
  { title: "A plugin that dies of a signal fails the ADD", plugin: "dies-of-signal", code: 999, message: /signal|SIGSEGV/ },
  { title: "A plugin that closes its stdout fails the ADD", plugin: "closes-stdout", code: 6, message: /closes-stdout/ },
  {
    title: "A-07: a plugin that never ends is killed",
    plugin: "never-ends",
    code: 11,
    message: /never-ends.*(ms|time|deadline)|(ms|time|deadline).*never-ends/,
    stepTimeoutMs: 300,
  },
  {
    title: "A-07: a plugin that ignores SIGTERM is killed",
    plugin: "ignores-sigterm",
    code: 11,
    message: /ignores-sigterm/,
    stepTimeoutMs: 300,
  },
  {
    title: "A-07: a plugin that never ends is killed with its children",
    plugin: "never-ends-with-children",
    code: 11,
    message: /never-ends/,
    stepTimeoutMs: 300,
  },
];

export const toleratedPlugins: readonly ToleratedPlugin[] = [
  { title: "L-12: a plugin that prints null has an empty result", plugin: "prints-null" },
  { title: "A-07: a plugin that doesn't read its stdin succeeds", plugin: "never-reads-stdin" },
  { title: "A-07: a plugin that prints 1 GiB to stderr succeeds", plugin: "floods-stderr" },
  { title: "A-07: a plugin that leaves a daemon with its stdout open succeeds", plugin: "leaves-daemon" },
  {
    title: "A-04: a result with __proto__ and constructor changes no prototype",
    plugin: "prototype",
  },
];
