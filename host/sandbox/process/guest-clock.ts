// Measures the guest's own time: stands while the host answers an import. The whole call has a deadline beside it.

export class GuestClock {
  /** Which of the two ran out. */
  expired: "time" | "deadline" | undefined;
  private readonly onExpiry: () => void;
  private readonly deadline: NodeJS.Timeout;
  private timer: NodeJS.Timeout | undefined;
  private left: number;
  private since = 0;

  constructor(guestMs: number, deadlineMs: number, onExpiry: () => void) {
    this.left = guestMs;
    this.onExpiry = onExpiry;
    this.deadline = setTimeout(() => this.expire("deadline"), deadlineMs);
  }

  /** The guest runs. */
  start(): void {
    this.since = performance.now();
    this.timer = setTimeout(() => this.expire("time"), Math.max(1, Math.ceil(this.left)));
  }

  /** The host works. */
  pause(): void {
    clearTimeout(this.timer);
    this.left -= performance.now() - this.since;
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.deadline);
  }

  private expire(which: "time" | "deadline"): void {
    this.stop();
    this.expired ??= which;
    this.onExpiry();
  }
}
