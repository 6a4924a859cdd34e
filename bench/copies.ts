// sandbox-…-copy: sandbox processes that are copies of a zygote, against new Node processes of the same launch server, in turns. The measurement runs in
// a program that the launcher executes as its daemon (copies-beside-server.ts), because only a daemon has a launch server.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { execPath } from "node:process";

import { canBecome } from "../host/sandbox/launcher/jail.ts";
import { serveArguments } from "../host/sandbox/launcher/launch-server.ts";
import { zygoteCommand } from "../host/sandbox/launcher/zygote-program.ts";
import { guestProgram } from "../host/sandbox/process/sandbox-process.ts";
import { defaultUids } from "../src/configuration/keys/sandbox-uids.ts";
import { root } from "../test/lab/compiled.ts";
import { dist, missingBuild } from "../test/lab/plexus.ts";
import type { Benchmark, Samples } from "./measure.ts";

/** The measurements of the program, in ms. */
export interface CopyTimes {
  /** A start and its first call of a component that the engine has examined. */
  readonly firstCall: Samples;
  /** The examination and the first call of a component, in an idle process that has run nothing. */
  readonly newComponent: Samples;
  /** A call with a process of its own. */
  readonly strictCall: Samples;
  /** A call in a process that has run the component before. */
  readonly warmCall: Samples;
}

function measure(): CopyTimes | string {
  const lacking = missingBuild({ components: ["status-shaper"] });
  if (lacking !== undefined) return lacking;
  if (!canBecome(defaultUids)) return "this user may not change users";
  const readable = join(dist, "engine");
  const program = guestProgram({ node: execPath, entry: join(readable, "guest-process.cjs"), readable });
  const launcher = join(dist, "bin", "plexus-sandbox");
  const daemon = [execPath, "--disable-warning=ExperimentalWarning", join(root, "bench", "copies-beside-server.ts")];
  const zygote = zygoteCommand(launcher, defaultUids, program);
  if (zygote === undefined) return "the zygote is not built";
  const args = serveArguments(defaultUids, program, { configuration: undefined, writable: [] }, daemon, zygote);
  return JSON.parse(execFileSync(launcher, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })) as CopyTimes;
}

let measured: CopyTimes | string | undefined;

function row(id: string, title: string, target: string, of: (times: CopyTimes) => Samples): Benchmark {
  return {
    id,
    title,
    target,
    async sample() {
      measured ??= measure();
      return typeof measured === "string" ? measured : of(measured);
    },
  };
}

/** The rows of copies. */
export const copyBenchmarks: readonly Benchmark[] = [
  row(
    "sandbox-first-call-copy",
    "start of a sandbox process and its first call, as a copy of the zygote / as a new Node",
    "ratio under 0.5",
    ({ firstCall }) => firstCall,
  ),
  row(
    "sandbox-component-copy",
    "examination and first call of a component in an idle sandbox process, a copy of the zygote / a new Node",
    "at most 15 ms",
    ({ newComponent }) => newComponent,
  ),
  row(
    "sandbox-call-strict-copy",
    "one call with a process of its own (level strict), a copy of the zygote / a new Node",
    "at most 4 ms",
    ({ strictCall }) => strictCall,
  ),
  row(
    "sandbox-call-warm-copy",
    "one call in a process that has run the component before, a copy of the zygote / a new Node",
    "none of its own",
    ({ warmCall }) => warmCall,
  ),
];
