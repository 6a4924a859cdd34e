// A program that the launcher executes as its daemon, with a zygote that a test has made faulty: three calls, one after the other. Writes one line of JSON
// (FaultReport). Arguments: the installation's directory, and the directory of the sandbox process' scripts.

import { join } from "node:path";
import { installedJail } from "../../../host/sandbox/launcher/jail.ts";
import { takeConfinement } from "../../../host/sandbox/launcher/launch-server.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { recordingImports } from "../../hostile/components/requests.ts";
import { descendantsOf, nameOf, zygoteOf } from "../sandbox-processes.ts";
import { answerText, expectedAnswers } from "./prove-answers.ts";

/** The answers of the calls, and the processes that ran after each. */
export interface FaultReport {
  /** `OK`, or the kind of the fault; `wrong` for another answer than this process computed. */
  readonly answers: readonly string[];
  /** Pids of the zygotes that the calls found afterwards; 0: none. */
  readonly zygotes: readonly number[];
  /** Processes that are left when the pool is closed, without a zygote. */
  readonly left: number;
}

const [, , home = "", scripts = ""] = process.argv;
const { server } = takeConfinement(process.env);
if (server === undefined) throw new Error("no launch server");
const installed = installedJail(home, { level: "process", uids: defaultUids, requiresOwnUid: true });
const jail = { ...installed, server: { ...server, hasZygote: true } };
const [expected] = await expectedAnswers(home);
if (expected === undefined) throw new Error("no component");
const answers: string[] = [];
const zygotes: number[] = [];
const pool = new ProcessPool({ entry: join(scripts, "guest-process.cjs"), jail, warm: 0, maxProcesses: 1, processPerCall: true });
for (let call = 0; call < 3; call++) {
  const { imports, calls } = recordingImports();
  const result = await pool.call(expected.call, imports);
  const isRight = answerText(result, calls) === expected.answer;
  answers.push(result.ok ? (isRight ? "OK" : "wrong") : result.fault.kind);
  zygotes.push(zygoteOf(server.pid));
}
await pool.close();
const left = (): readonly number[] => descendantsOf(server.pid).filter((pid) => !isZygote(pid));
for (let look = 0; look < 600 && left().length > 0; look++) await new Promise((resolve) => setTimeout(resolve, 100));
process.stdout.write(`${JSON.stringify({ answers, zygotes, left: left().length } satisfies FaultReport)}\n`);
process.exit(0);

/** A zygote that starts has Node's own name. */
function isZygote(pid: number): boolean {
  return nameOf(pid) !== "plexus-guest" && nameOf(pid) !== "plexus-sandbox";
}
