// Bounds of the time of calls, steps and waits.

import { defaultsOf, key, type ValuesOf } from "../table/key.ts";
import { boolean, count, oneOf, pathOrEmpty } from "../table/kinds.ts";
import { section } from "../table/section.ts";

/** The kubelet gives a whole sandbox four minutes (RT-08). */
export const maxStepMs = 240_000;

const deletionKeys = {
  tries: key({ kind: count(1000), about: "Number of failed DELs of one pod; {usual} by default.", usual: 10 }),
  seconds: key({
    kind: count(86_400),
    about: "Seconds after the first failed DEL, if the pod's network namespace still exists; {usual} by default.",
    usual: 300,
  }),
};

const gcKeys = {
  seconds: key({
    kind: count(3600),
    about: "Maximum duration of one GC, in seconds, which leaves the rest to the next GC; {usual} by default.",
    usual: 60,
  }),
  dryRun: key({
    kind: boolean,
    about: "True: GC only reports on stderr what it would do; {usual} by default.",
    usual: false,
  }),
};

export const timeKeys = {
  readinessindicatorfile: key({
    kind: pathOrEmpty,
    about:
      "A file that exists while the default network is ready. ADD waits for it, DEL waits briefly, STATUS answers code 50 without it.",
  }),
  readinessTimeoutMs: key({
    kind: count(maxStepMs),
    about: "Maximum wait of an ADD for readinessindicatorfile, in milliseconds; then it fails with code 11. {usual} by default.",
    usual: 45_000,
  }),
  readinessDelTimeoutMs: key({
    kind: count(60_000),
    about: "Maximum wait of a DEL for readinessindicatorfile, in milliseconds; then it proceeds without. {usual} by default.",
    usual: 2000,
  }),
  stepTimeoutMs: key({
    kind: count(maxStepMs),
    about: "Maximum duration of one native step, in milliseconds; {usual} by default.",
    usual: 60_000,
  }),
  // With one CPU, 32 bridge plugins at a time took 13 % less CPU time.
  goMaxProcs: key({
    kind: count(4096, 0),
    about:
      "GOMAXPROCS of native plugins, unless the runtime sets it: the number of CPUs that a plugin written in Go uses at a time. {usual} by default: such a plugin mostly waits for the kernel, and threads for more CPUs cost more than they save. 0: Plexus sets none. Child processes of a plugin inherit it.",
    usual: 1,
  }),
  callTimeoutMs: key({
    // A runtime can be configured to wait longer than the kubelet does.
    kind: count(3_600_000),
    about:
      "Maximum duration of an ADD, including its wait for a turn, in milliseconds; {usual} by default, because the kubelet gives up after 240000. Half of it, at most 60000, is reserved for undoing. A DEL or CHECK gets half of it, as the kubelet does; a step that undoes gets half of the remaining time.",
    usual: 220_000,
  }),
  del: key({
    kind: section(deletionKeys),
    about: "When a repeatedly failing DEL is given up, so that the pod's sandbox can be removed.",
    usual: defaultsOf(deletionKeys),
  }),
  check: key({
    kind: oneOf(["all", "default"]),
    about: "Attachments that CHECK examines: all of the pod's (default), or the default network's.",
    usual: "all",
  }),
  gc: key({ kind: section(gcKeys), about: "Settings of GC.", usual: defaultsOf(gcKeys) }),
};

/** A DEL is given up after `tries` failures, and not before `seconds` after the first one unless the network namespace is gone. */
export type DeletionConfiguration = ValuesOf<typeof deletionKeys>;
