// Decides whether the next sandbox process is a copy of the zygote. A copy that is not ready, whatever the reason, is replaced by a new Node.

/** Failures one after the other after which no copy is tried for a while. */
const maxFailures = 3;
/** Starts of a new Node before a copy is tried again. */
const startsWithoutCopies = 20;

/** The attempts of one pool. */
export class CopyAttempts {
  readonly #hasZygote: boolean;
  #failures = 0;
  #startsLeft = 0;

  constructor(hasZygote: boolean) {
    this.#hasZygote = hasZygote;
  }

  /** Whether the next start tries a copy; counts the start. */
  next(): boolean {
    if (!this.#hasZygote) return false;
    if (this.#startsLeft === 0) return true;
    this.#startsLeft -= 1;
    return false;
  }

  /** A copy was tried. */
  tried(isReady: boolean): void {
    this.#failures = isReady ? 0 : this.#failures + 1;
    if (this.#failures < maxFailures) return;
    this.#failures = 0;
    this.#startsLeft = startsWithoutCopies;
  }
}
