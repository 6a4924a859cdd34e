// Measures a guest's own time, without its imports, from outside its process. Also watches the deadline of the whole call.

/** Maximum of wall-clock time, as a multiple of the guest's own time, on a machine without a free CPU. */
const maxWallFactor = 10;

/** The clock of one call. */
export class GuestClock {
  /** Milliseconds of the guest's own time. */
  readonly #guestMs: number;
  /** CPU time of the guest's process in ms; undefined if the system does not report it. */
  readonly #cpuMs: () => number | undefined;
  /** Called at most once for each limit that has passed. */
  readonly #expire: (which: "time" | "deadline") => void;
  readonly #deadline: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  /** The guest's remaining time in ms when it last started. */
  #left: number;
  /** Time of the last start; undefined while the guest does not run. */
  #since: number | undefined;
  /** Milliseconds of further wall-clock time that may be granted for waits for a CPU. */
  #extraMs: number;
  /** CPU time of the guest's process when the limit first passed. */
  #cpuMsAtLimit: number | undefined;

  /** `deadlineMs`: milliseconds for the whole call. */
  constructor(
    guestMs: number,
    deadlineMs: number,
    cpuMs: () => number | undefined,
    expire: (which: "time" | "deadline") => void,
  ) {
    this.#guestMs = guestMs;
    this.#cpuMs = cpuMs;
    this.#expire = expire;
    this.#left = guestMs;
    this.#extraMs = guestMs * (maxWallFactor - 1);
    this.#deadline = setTimeout(() => expire("deadline"), deadlineMs);
  }

  /** The guest runs from now on. */
  start(): void {
    this.#since = performance.now();
    if (this.#timer === undefined) this.#setTimer(this.#left);
  }

  /** The host or another guest runs from now on. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#left -= performance.now() - this.#since;
    this.#since = undefined;
  }

  /** Stops the clock; no limit expires afterwards. */
  stop(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
  }

  /** The timer continues during pauses: a call has a dozen of them, and setting a timer for each would be wasted. */
  #setTimer(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(milliseconds)));
  }

  #onTimer(): void {
    this.#timer = undefined;
    // The guest does not run; the next start sets the timer.
    if (this.#since === undefined) return;
    const left = this.#left - (performance.now() - this.#since);
    if (left > 0) this.#setTimer(left);
    else this.#limitPassed();
  }

  /**
   * The limit has passed on the wall clock. A process that was stopped or got no CPU gets its full time again from now on, then the
   * CPU time that it still lacks. The CPU time is not read earlier, because hardly any guest reaches its limit.
   */
  #limitPassed(): void {
    const cpu = this.#cpuMs();
    const missing = cpu === undefined ? 0 : this.#guestMs - (cpu - (this.#cpuMsAtLimit ??= cpu));
    const granted = Math.min(missing, this.#extraMs);
    if (granted <= 0) {
      this.#expire("time");
      return;
    }
    this.#extraMs -= granted;
    this.#left = granted;
    this.start();
  }
}
