// Measures the guest's own time: stands while the host answers an import. The whole call has a deadline beside it.

/** How many times its own time a guest may take by the clock on the wall, on a machine that has no CPU for it. */
const mostWaiting = 10;

export interface GuestClockInit {
  /** Milliseconds of the guest's own. */
  readonly guestMs: number;
  /** Milliseconds of the whole call. */
  readonly deadlineMs: number;
  /** CPU time of the guest's process so far, in ms; undefined where the system doesn't say. */
  readonly ranMs: () => number | undefined;
  /** Is told which of the two ran out, of each once. */
  readonly expire: (which: "time" | "deadline") => void;
}

export class GuestClock {
  private readonly init: GuestClockInit;
  private readonly deadline: NodeJS.Timeout;
  private timer: NodeJS.Timeout | undefined;
  /** Of the guest's own, before the stretch under way. */
  private left: number;
  /** When the stretch under way began; undefined: there is none. */
  private since: number | undefined;
  /** What it may still wait for a CPU when its time has gone by, in ms. */
  private patience: number;
  /** CPU time of its process when its time had gone by. */
  private ranBefore: number | undefined;

  constructor(init: GuestClockInit) {
    this.init = init;
    this.left = init.guestMs;
    this.patience = init.guestMs * (mostWaiting - 1);
    this.deadline = setTimeout(() => init.expire("deadline"), init.deadlineMs);
  }

  /** The guest runs. */
  start(): void {
    this.since = performance.now();
    if (this.timer === undefined) this.wait(this.left);
  }

  /** The host works, or another guest. */
  pause(): void {
    if (this.since === undefined) return;
    this.left -= performance.now() - this.since;
    this.since = undefined;
  }

  stop(): void {
    this.since = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.deadline);
  }

  /** One timer goes on over pauses: a call has a dozen stretches, and none of them ends by it but by mishap. */
  private wait(milliseconds: number): void {
    this.timer = setTimeout(() => this.look(), Math.max(1, Math.ceil(milliseconds)));
  }

  private look(): void {
    this.timer = undefined;
    // The next stretch waits for what is left.
    if (this.since === undefined) return;
    const left = this.left - (performance.now() - this.since);
    if (left > 0) this.wait(left);
    else this.goneBy();
  }

  /**
   * By the clock on the wall. A process that the machine had no CPU for, or that was stopped, has done nothing wrong: it gets the time
   * once more, and then what it still lacks. Its CPU time isn't asked before, because hardly any guest comes to this.
   */
  private goneBy(): void {
    const { guestMs, ranMs, expire } = this.init;
    const ran = ranMs();
    const lacks = ran === undefined ? 0 : guestMs - (ran - (this.ranBefore ??= ran));
    const granted = Math.min(lacks, this.patience);
    if (granted <= 0) {
      expire("time");
      return;
    }
    this.patience -= granted;
    this.left = granted;
    this.start();
  }
}
