// The calls in one sandbox process: one that waits for its imports in place, or many of one component that are suspended meanwhile.
// The process runs one guest at a time and in the order in which it was told to, so that whoever speaks is known, and whose time it is.

import { NonConforming } from "../abi/conform.ts";
import { abiVersions } from "../abi/versions.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import type { CallOutcome } from "../linker/call.ts";
import { mayWait } from "../linker/may-wait.ts";
import type { CapabilityImports, GuestCall, Verb } from "../runner.ts";
import { frameTypes, type Frame } from "./frames.ts";
import { GuestClock } from "./guest-clock.ts";
import { GuestSession, readOutcome } from "./guest-session.ts";
import type { CallMessage, LoadMessage } from "./messages.ts";
import type { Ended, SandboxProcess } from "./sandbox-process.ts";

// JSON writes one byte as up to six.
const escaped = 6;

/**
 * Milliseconds that a process has on top of a guest's time to end it by itself where others wait in it: only a process that
 * doesn't is killed, and they with it.
 */
const graceMs = 1000;

export class GuestSessions {
  /** Something other than an answer came of a call: it takes no more, and is ended when the last one has ended. */
  spoiled = false;
  readonly process: SandboxProcess;
  private readonly changed: () => void;
  private readonly sessions = new Map<number, GuestSession>();
  /** Those that were told to run and have not given way, in order: the first one runs. */
  private readonly running: GuestSession[] = [];
  private numbers = 0;
  private frameBytes = 0;

  /** `changed`: a call is not in the process any more. */
  constructor(process: SandboxProcess, changed: () => void) {
    this.process = process;
    this.changed = changed;
    process.listen((frame) => this.take(frame));
    void process.ended.then((ended) => {
      for (const session of this.sessions.values()) {
        session.clock.stop();
        session.settle(lost(ended));
      }
      this.running.length = 0;
      this.sessions.clear();
      this.changed();
    });
  }

  /** Calls in the process; those that nobody waits for any more are still there until it has said so. */
  get calls(): number {
    return this.sessions.size;
  }

  /** Runs a call. */
  run(call: GuestCall<Verb>, imports: CapabilityImports): Promise<CallOutcome> {
    const { component, limits, deadlineMs } = call;
    const abi = abiVersions[component.plan.abi];
    if (abi === undefined) throw new Error(`no ABI ${component.plan.abi}`);
    if (!this.process.alive) return this.process.ended.then(lost);
    const waits = mayWait(component.capabilities);
    const clock = new GuestClock({
      guestMs: limits.timeMs + (waits ? graceMs : 0),
      deadlineMs,
      ranMs: () => this.process.ranMs(),
      expire: (which) => this.expired(session, which),
    });
    this.numbers += 1;
    const session = new GuestSession(this.numbers, call, abi, imports, clock);
    const bytes = escaped * Math.max(limits.outputBytes, limits.logBytes);
    this.frameBytes = this.sessions.size === 0 ? bytes : Math.max(this.frameBytes, bytes);
    this.process.allow(this.frameBytes);
    this.sessions.set(session.number, session);
    try {
      this.start(session);
    } catch (error) {
      clock.stop();
      this.sessions.delete(session.number);
      session.settle(unserved(error));
      this.changed();
    }
    return session.outcome;
  }

  private start(session: GuestSession): void {
    const { component, verb, request, limits, deadlineMs } = session.call;
    loadInto(this.process, component);
    const message: CallMessage = { key: component.key, verb, request, limits, deadlineMs };
    this.tell(session, frameTypes.CALL, message);
  }

  /** Whatever is told a guest makes it run, after those that were told before. */
  private tell(session: GuestSession, type: number, json: unknown): void {
    this.process.send(type, session.number, json);
    this.running.push(session);
    if (this.running.length === 1) session.clock.start();
  }

  private take({ type, call, json }: Frame): void {
    const [session] = this.running;
    try {
      if (session === undefined || session.number !== call) throw new NonConforming("a frame of a call that doesn't run");
      if (type === frameTypes.LOG) session.writeLog(json);
      else if (type === frameTypes.IMPORT) this.asked(session, json);
      else if (type === frameTypes.OUTCOME) this.answered(session, readOutcome(json));
      else if (type === frameTypes.UNKNOWN && !session.reloaded) {
        session.reloaded = true;
        this.process.loaded.delete(session.call.component.key);
        this.giveWay(session);
        this.start(session);
      } else throw new NonConforming(`a frame of type ${type}`);
    } catch (error) {
      if (!(error instanceof NonConforming)) throw error;
      session?.break("ABI_VIOLATED", `its sandbox process sent ${error.message}`);
      this.process.kill(`was ended because it sent ${error.message}`);
    }
  }

  private asked(session: GuestSession, json: unknown): void {
    this.giveWay(session);
    if (session.abandoned) {
      this.endGuest(session);
      return;
    }
    let value: unknown;
    try {
      value = session.ask(json);
    } catch (error) {
      if (error instanceof NonConforming) throw error;
      this.unserved(session, error);
      return;
    }
    if (value instanceof Promise) {
      value.then(
        (it) => this.answer(session, it),
        (error: unknown) => this.unserved(session, error),
      );
    } else this.answer(session, value);
  }

  private answer(session: GuestSession, value: unknown): void {
    // Nobody waits for what comes after the deadline or after the process' end.
    if (session.abandoned || !this.sessions.has(session.number)) return;
    try {
      this.tell(session, frameTypes.ANSWER, { value });
    } catch (error) {
      this.unserved(session, error);
    }
  }

  private unserved(session: GuestSession, error: unknown): void {
    session.settle(unserved(error));
    this.abandon(session);
  }

  private answered(session: GuestSession, outcome: CallOutcome): void {
    this.giveWay(session);
    if (outcome.kind !== "answered") this.spoiled = true;
    session.clock.stop();
    this.sessions.delete(session.number);
    session.settle(outcome);
    this.changed();
  }

  private giveWay({ clock }: GuestSession): void {
    this.running.shift();
    clock.pause();
    this.running[0]?.clock.start();
  }

  private expired(session: GuestSession, which: "time" | "deadline"): void {
    const { limits, deadlineMs } = session.call;
    if (which === "time") {
      session.break("LIMIT_TIME", `used up its ${limits.timeMs} ms`);
      this.process.kill("was ended because another call of the same delegate used up its time in it");
      return;
    }
    session.break("LIMIT_TIME", `did not end within the call's ${Math.round(deadlineMs)} ms`);
    this.abandon(session);
  }

  /** The process goes on for others: a guest that waits is ended in it, one that runs by its meter or when it waits. */
  private abandon(session: GuestSession): void {
    if (session.abandoned || !this.sessions.has(session.number)) return;
    session.abandoned = true;
    this.spoiled = true;
    if (!mayWait(session.call.component.capabilities)) this.process.kill("was ended because its call was");
    else if (!this.running.includes(session)) this.endGuest(session);
  }

  private endGuest(session: GuestSession): void {
    if (session.ending) throw new NonConforming("an import of a call that was ended");
    session.ending = true;
    this.tell(session, frameTypes.ABANDON, {});
  }
}

function unserved(error: unknown): CallOutcome {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: "broken", fault: "INTERNAL", message: `could not be served: ${why}` };
}

function lost({ reason }: Ended): CallOutcome {
  return { kind: "broken", fault: "SANDBOX_UNAVAILABLE", message: `lost its sandbox process, which ${reason}` };
}

/** Sends the component's code, unless the process has it; it compiles it before it takes the next call. */
export function loadInto(process: SandboxProcess, { key, plan, modules }: AdmittedComponent): void {
  if (process.loaded.has(key)) return;
  const load: LoadMessage = { key, plan, sizes: modules.map(({ length }) => length) };
  process.send(frameTypes.LOAD, 0, load, modules);
  process.loaded.add(key);
}
