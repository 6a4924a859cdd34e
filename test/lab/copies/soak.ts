// Makes many copies of a zygote beside load, and checks each answer of each copy. An engineer runs it by hand, as root:
//
//   node test/lab/copies/soak.ts [--copies N] [--minutes N] [--at-once N] [--load N] [--kills MS] [--home INSTALLATION] [--report FILE]
//
// The program starts itself as the daemon of a launch server. Each copy runs an ADD of a component; each tenth examines the component before. The outcomes
// and all calls of capabilities must be those of this process. `--kills`: in these intervals a process that the launch server has started is killed, whatever
// it does at that moment: the zygote, a copy, or the parent of one. The last line of the daemon is JSON: copies, wrong answers, lost copies, copies that were not ready, zygotes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, execPath } from "node:process";
import { parseArgs } from "node:util";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { installedJail, type Jail } from "../../../host/sandbox/launcher/jail.ts";
import { isConfined, serveArguments, takeConfinement } from "../../../host/sandbox/launcher/launch-server.ts";
import { zygoteCommand } from "../../../host/sandbox/launcher/zygote-program.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { memoryBounds } from "../../../host/sandbox/process/memory-bounds.ts";
import { guestProgram, SandboxProcess, type ProcessSettings } from "../../../host/sandbox/process/sandbox-process.ts";
import { dist } from "../plexus.ts";
import { childrenOf, descendantsOf, nameOf, zygoteOf } from "../sandbox-processes.ts";
import { type Expected, expectedAnswers, proveAnswers } from "./prove-answers.ts";

/** The figures of a run. */
interface Figures {
  copies: number;
  right: number;
  wrong: number;
  lost: number;
  notReady: number;
  zygotes: number;
  seconds: number;
  /** The first texts of what went wrong. */
  readonly texts: string[];
}

const { values } = parseArgs({
  options: {
    copies: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "600" },
    "at-once": { type: "string", default: "2" },
    load: { type: "string", default: "0" },
    kills: { type: "string" },
    home: { type: "string", default: dist },
    report: { type: "string" },
  },
});

const { home } = values;
const readable = join(home, "engine");
const entry = join(readable, "guest-process.cjs");
const launcher = join(home, "bin", "plexus-sandbox");

async function startServer(): Promise<number> {
  const program = guestProgram({ node: execPath, entry, readable });
  const zygote = zygoteCommand(launcher, defaultUids, program);
  if (zygote === undefined) throw new Error("the zygote is not built: npm run build");
  const daemon = [execPath, "--disable-warning=ExperimentalWarning", ...argv.slice(1)];
  const args = serveArguments(defaultUids, program, { configuration: undefined, writable: [] }, daemon, zygote);
  const child = spawn(launcher, args, { stdio: "inherit" });
  // The daemon has no right to kill processes of other users.
  const killer = values.kills === undefined ? undefined : setInterval(() => killOne(child.pid ?? 0), Number(values.kills));
  const [status] = await once(child, "exit");
  clearInterval(killer);
  if (killer !== undefined) process.stdout.write(`${JSON.stringify({ killed })}\n`);
  return typeof status === "number" ? status : 1;
}

let killed = 0;

/** Kills one of the launch server's processes; seldom its zygote, so that copies are made between. */
function killOne(daemon: number): void {
  const server = childrenOf(daemon).find((pid) => nameOf(pid) === "plexus-launcher");
  if (server === undefined) return;
  const zygote = zygoteOf(server);
  // Without a name of Plexus it is a zygote that starts: no copy would ever be made if each of these were killed.
  const copies = descendantsOf(server).filter((pid) => pid !== zygote && nameOf(pid).startsWith("plexus-"));
  const victim = killed % 10 === 9 ? zygote : copies[Math.floor(Math.random() * copies.length)];
  if (victim === undefined || victim === 0) return;
  try {
    process.kill(victim, "SIGKILL");
    killed += 1;
  } catch {
    // The process has just ended.
  }
}

async function soak(): Promise<number> {
  const { server } = takeConfinement(process.env);
  if (server === undefined) throw new Error("no launch server");
  const installed = installedJail(home, { level: "process", uids: defaultUids, requiresOwnUid: true });
  const jail: Jail = { ...installed, server: { ...server, hasZygote: true } };
  const { memoryPages, tableEntries } = defaultLimits;
  const bytes = memoryBounds(undefined).ofProcess(memoryPages);
  const init: ProcessSettings = { node: execPath, entry, readable, memoryPages, tableEntries, bytes, jail, isCopy: true };
  const expected = await expectedAnswers(home);
  const figures: Figures = { copies: 0, right: 0, wrong: 0, lost: 0, notReady: 0, zygotes: 0, seconds: 0, texts: [] };
  const started = performance.now();
  const endMs = Number(values.minutes) * 60_000;
  let lastZygote = 0;
  const watch = setInterval(() => {
    const zygote = zygoteOf(server.pid);
    if (zygote !== 0 && zygote !== lastZygote) figures.zygotes += 1;
    lastZygote = zygote === 0 ? lastZygote : zygote;
    report(figures, started);
  }, 2000);
  const load = Array.from({ length: Number(values.load) }, () => spawn(execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  const lane = async (): Promise<void> => {
    while (figures.copies < Number(values.copies) && performance.now() - started < endMs) {
      const of = expected[figures.copies % expected.length];
      figures.copies += 1;
      if (of !== undefined) await proveCopy(init, of, figures, figures.copies % 10 === 0);
    }
  };
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, lane));
  clearInterval(watch);
  for (const each of load) each.kill("SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const left = descendantsOf(server.pid).filter((pid) => pid !== zygoteOf(server.pid));
  process.stdout.write(`${JSON.stringify({ ...report(figures, started), left: left.length })}\n`);
  return figures.wrong === 0 && (figures.lost === 0 || values.kills !== undefined) && left.length === 0 ? 0 : 1;
}

/** Writes the figures so far. */
function report(figures: Figures, started: number): Figures {
  figures.seconds = Math.round((performance.now() - started) / 1000);
  if (values.report !== undefined) writeFileSync(values.report, `${JSON.stringify(figures)}\n`);
  return figures;
}

async function proveCopy(init: ProcessSettings, expected: Expected, figures: Figures, examines: boolean): Promise<void> {
  const copy = new SandboxProcess(init);
  const note = (text: string): void => {
    if (figures.texts.length < 20) figures.texts.push(`copy ${figures.copies}, ${expected.name}: ${text}`);
  };
  if (await copy.ready()) {
    const verdict = await proveAnswers(copy, expected, examines);
    figures[verdict.kind] += 1;
    if (verdict.kind !== "right") note(`${verdict.kind}: ${verdict.text}`);
    copy.kill("has answered");
    await copy.ended;
  } else {
    figures.notReady += 1;
    note(`not ready: ${(await copy.ended).reason}`);
  }
}

process.exit(isConfined(process.env) ? await soak() : await startServer());
