// The calls in one sandbox process: one synchronous call, or many suspendable calls of one component. The process runs one guest at a time,
// in the order of the frames that it receives. Therefore the engine knows which guest runs, sends frames and uses time.

import { NonConforming } from "../abi/conform.ts";
import { abiVersions } from "../abi/versions.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import { type AdmissionOutcome, type AdmissionRequest, AdmissionSession } from "./admission-session.ts";
import { maxReportBytes } from "./admission-report.ts";
import type { CallOutcome } from "../linker/call.ts";
import { mayWait } from "../linker/may-wait.ts";
import type { CapabilityImports, GuestCall, Verb } from "../runner.ts";
import { frameTypes, type Frame } from "./frames.ts";
import { GuestClock } from "./guest-clock.ts";
import { GuestSession, readOutcome } from "./guest-session.ts";
import type { AdmitMessage, CallMessage, LoadMessage } from "./messages.ts";
import type { Ended, SandboxProcess } from "./sandbox-process.ts";

// JSON encodes a byte with up to six bytes.
const jsonFactor = 6;

/**
 * Milliseconds beyond a guest's time limit in which the process must end the guest itself. Otherwise the process is killed, together with its
 * suspended calls.
 */
const graceMs = 1000;

/**
 * Maximum bytes of answers that wait. A guest asks again after it has read its answer, so only the answers to other calls wait. A process that a guest has
 * taken over could ask without reading.
 */
const maxUnreadBytes = 128 * 1024 * 1024;

/** The calls in one sandbox process. */
export class GuestSessions {
  /** A call ended without an answer: the process takes no further calls, and is replaced after its last call. */
  mustBeReplaced = false;
  readonly process: SandboxProcess;
  readonly #callEnded: () => void;
  readonly #sessions = new Map<number, GuestSession>();
  /** Calls that may run, in the order of their frames. The first one runs, and the others wait for the thread. */
  readonly #running: GuestSession[] = [];
  /** The admission that runs in the process, which then has no calls. */
  #admission: { readonly session: AdmissionSession; readonly key: string } | undefined;
  #lastNumber = 0;
  #frameBytes = 0;

  /** `callEnded` is called whenever a call has left the process. */
  constructor(process: SandboxProcess, callEnded: () => void) {
    this.process = process;
    this.#callEnded = callEnded;
    process.listen((frame) => this.#receive(frame));
    void process.ended.then((ended) => {
      for (const session of this.#sessions.values()) {
        session.clock.stop();
        session.settle(lostProcessOutcome(ended));
      }
      this.#running.length = 0;
      this.#sessions.clear();
      this.#admission?.session.lost(`its sandbox process ${ended.reason}`);
      this.#admission = undefined;
      this.#callEnded();
    });
  }

  /** Number of calls in the process, including abandoned calls whose guest has not ended yet, and an admission. */
  get calls(): number {
    return this.#sessions.size + (this.#admission === undefined ? 0 : 1);
  }

  /** Lets an idle process without a component prepare for its first admission. */
  warmUp(): void {
    this.process.send(frameTypes.WARM, 0, {});
  }

  /** Lets an idle process give back the memory that it does not need. A copy of a zygote would only unshare its memory by that. */
  rest(): void {
    if (!this.process.isCopy) this.process.send(frameTypes.REST, 0, {});
  }

  /** Examines a component in the process, which must have no calls, and loads it. The outcome never rejects. */
  admit(request: AdmissionRequest): Promise<AdmissionOutcome> {
    const { key, bytes, limits } = request;
    const session = new AdmissionSession(
      request,
      () => this.process.cpuMs(),
      (reason) => this.process.kill(reason),
    );
    if (!this.process.isAlive) {
      void this.process.ended.then(({ reason }) => session.lost(`its sandbox process ${reason}`));
      return session.outcome;
    }
    this.#admission = { session, key };
    this.process.limitFrames(maxReportBytes(limits.componentBytes));
    const { memoryPages, tableEntries, coreInstances } = limits;
    this.process.send(frameTypes.ADMIT, 0, { key, limits: { memoryPages, tableEntries, coreInstances } } satisfies AdmitMessage, [
      bytes,
    ]);
    return session.outcome;
  }

  #receiveAdmission(admission: AdmissionSession, key: string, frame: Frame): void {
    if (admission.receive(frame)) this.process.loaded.add(key);
    // A process that refused its component has no further use.
    else this.mustBeReplaced = true;
    this.#admission = undefined;
    this.#callEnded();
  }

  /** Runs a call. The outcome never rejects. */
  run(call: GuestCall<Verb>, imports: CapabilityImports): Promise<CallOutcome> {
    const { component, limits, deadlineMs } = call;
    const abi = abiVersions[component.plan.abi];
    if (abi === undefined) throw new Error(`no ABI ${component.plan.abi}`);
    if (!this.process.isAlive) return this.process.ended.then(lostProcessOutcome);
    const isSuspendable = mayWait(component.plan.capabilities);
    const clock = new GuestClock(
      limits.timeMs + (isSuspendable ? graceMs : 0),
      deadlineMs,
      () => this.process.cpuMs(),
      (which) => this.#expired(session, which),
    );
    this.#lastNumber += 1;
    const session = new GuestSession(this.#lastNumber, call, abi, imports, clock);
    const bytes = jsonFactor * Math.max(limits.outputBytes, limits.logBytes);
    this.#frameBytes = this.#sessions.size === 0 ? bytes : Math.max(this.#frameBytes, bytes);
    this.process.limitFrames(this.#frameBytes);
    this.#sessions.set(session.number, session);
    try {
      this.#start(session);
    } catch (error) {
      clock.stop();
      this.#sessions.delete(session.number);
      session.settle(hostErrorOutcome(error));
      this.#callEnded();
    }
    return session.outcome;
  }

  #start(session: GuestSession): void {
    const { component, verb, request, limits, deadlineMs } = session.call;
    loadInto(this.process, component);
    const { key, ungranted } = component;
    const message: CallMessage = { key, verb, request, limits, deadlineMs, ungranted };
    this.#resume(session, frameTypes.CALL, message);
  }

  /** Sends a frame to a guest, which makes it run after the guests before it. */
  #resume(session: GuestSession, type: number, json: unknown): void {
    this.process.send(type, session.number, json);
    this.#running.push(session);
    if (this.#running.length === 1) session.clock.start();
  }

  #receive(frame: Frame): void {
    const { type, call, json } = frame;
    const [session] = this.#running;
    try {
      if (this.#admission !== undefined) {
        this.#receiveAdmission(this.#admission.session, this.#admission.key, frame);
        return;
      }
      if (session === undefined || session.number !== call) throw new NonConforming("a frame of a call that is not running");
      if (type === frameTypes.LOG) session.writeLog(json);
      else if (type === frameTypes.IMPORT) this.#receiveImport(session, json);
      else if (type === frameTypes.OUTCOME) this.#receiveOutcome(session, readOutcome(json));
      else if (type === frameTypes.UNKNOWN && !session.reloaded) {
        session.reloaded = true;
        this.process.loaded.delete(session.call.component.key);
        this.#stopRunning(session);
        this.#start(session);
      } else throw new NonConforming(`a frame of type ${type}`);
    } catch (error) {
      if (!(error instanceof NonConforming)) throw error;
      session?.fail("ABI_VIOLATED", `its sandbox process sent ${error.message}`);
      this.#admission?.session.lost(`its sandbox process sent ${error.message}`);
      this.process.kill(`was ended because it sent ${error.message}`);
    }
  }

  #receiveImport(session: GuestSession, json: unknown): void {
    this.#stopRunning(session);
    if (session.abandoned) {
      this.#endGuest(session);
      return;
    }
    let value: unknown;
    try {
      value = session.callImport(json);
    } catch (error) {
      if (error instanceof NonConforming) throw error;
      this.#failImport(session, error);
      return;
    }
    if (value instanceof Promise) {
      value.then(
        (answer) => this.#answer(session, answer),
        (error: unknown) => this.#failImport(session, error),
      );
    } else this.#answer(session, value);
  }

  #answer(session: GuestSession, value: unknown): void {
    // No call waits for an answer after the deadline or after the process' end.
    if (session.abandoned || !this.#sessions.has(session.number)) return;
    if (this.process.unreadBytes > maxUnreadBytes) {
      this.process.kill("was ended because it asked without reading its answers");
      return;
    }
    try {
      this.#resume(session, frameTypes.ANSWER, { value });
    } catch (error) {
      this.#failImport(session, error);
    }
  }

  #failImport(session: GuestSession, error: unknown): void {
    session.settle(hostErrorOutcome(error));
    this.#abandon(session);
  }

  #receiveOutcome(session: GuestSession, outcome: CallOutcome): void {
    this.#stopRunning(session);
    if (outcome.kind !== "answered") this.mustBeReplaced = true;
    session.clock.stop();
    this.#sessions.delete(session.number);
    session.settle(outcome);
    this.#callEnded();
  }

  /** The guest has stopped; the next guest runs. */
  #stopRunning({ clock }: GuestSession): void {
    this.#running.shift();
    clock.pause();
    this.#running[0]?.clock.start();
  }

  #expired(session: GuestSession, which: "time" | "deadline"): void {
    const { limits, deadlineMs } = session.call;
    if (which === "time") {
      session.fail("LIMIT_TIME", `used up its ${limits.timeMs} ms`);
      this.process.kill("was ended because another call of the same delegate used up its time in it");
      return;
    }
    session.fail("LIMIT_TIME", `did not end within the call's ${Math.round(deadlineMs)} ms`);
    this.#abandon(session);
  }

  /**
   * Abandons a call and keeps the process for its other calls. A suspended guest is ended now, a running guest by its meter or at its next
   * import.
   */
  #abandon(session: GuestSession): void {
    if (session.abandoned || !this.#sessions.has(session.number)) return;
    session.abandoned = true;
    this.mustBeReplaced = true;
    if (!mayWait(session.call.component.plan.capabilities)) this.process.kill("was ended together with its call");
    else if (!this.#running.includes(session)) this.#endGuest(session);
  }

  #endGuest(session: GuestSession): void {
    if (session.abandonSent) throw new NonConforming("an import of a call that was ended");
    session.abandonSent = true;
    this.#resume(session, frameTypes.ABANDON, {});
  }
}

function hostErrorOutcome(error: unknown): CallOutcome {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: "broken", fault: "INTERNAL", message: `could not be served: ${why}` };
}

function lostProcessOutcome({ reason }: Ended): CallOutcome {
  return { kind: "broken", fault: "SANDBOX_UNAVAILABLE", message: `lost its sandbox process, which ${reason}` };
}

/** Sends a component to the process, unless the process has it. The process compiles it before the next call. */
function loadInto(process: SandboxProcess, { key, plan, modules }: AdmittedComponent): void {
  if (process.loaded.has(key)) return;
  const load: LoadMessage = { key, plan, sizes: modules.map(({ length }) => length) };
  process.send(frameTypes.LOAD, 0, load, modules);
  process.loaded.add(key);
}
