// Measures the guest's own time: stands while the host answers an import. The whole call has a deadline beside it.

export class GuestClock {
  private readonly expire: (which: "time" | "deadline") => void;
  private readonly deadline: NodeJS.Timeout;
  private timer: NodeJS.Timeout | undefined;
  private left: number;
  private since = 0;

  /** `expire` is told which of the two ran out, of each once. */
  constructor(guestMs: number, deadlineMs: number, expire: (which: "time" | "deadline") => void) {
    this.left = guestMs;
    this.expire = expire;
    this.deadline = setTimeout(() => this.expire("deadline"), deadlineMs);
  }

  /** The guest runs. */
  start(): void {
    this.since = performance.now();
    this.timer = setTimeout(() => this.expire("time"), Math.max(1, Math.ceil(this.left)));
  }

  /** The host works, or another guest. */
  pause(): void {
    clearTimeout(this.timer);
    this.left -= performance.now() - this.since;
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.deadline);
  }
}
