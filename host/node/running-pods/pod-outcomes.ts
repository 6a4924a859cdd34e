// The last failure and shortfall of the work for each pod, so that neither is logged or told twice.

/** The texts of one pod; empty: there is none. */
export interface PodOutcome {
  readonly failure: string;
  readonly shortfall: string;
}

/** The pods of one feature, named `namespace/name`. */
export class PodOutcomes {
  readonly #failures = new Map<string, string>();
  readonly #shortfalls = new Map<string, string>();
  readonly #warn: (text: string) => void;

  /** `warn` receives each text that is another one than the pod's last. */
  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  /** Pods for which the work failed. */
  get failures(): number {
    return this.#failures.size;
  }

  /** Pods for which a part of the work was not done that another place holds. */
  get shortfalls(): number {
    return this.#shortfalls.size;
  }

  /** The texts of a pod that it has. */
  of(pod: string): Partial<PodOutcome> {
    const [failure, shortfall] = [this.#failures.get(pod), this.#shortfalls.get(pod)];
    return { ...(failure === undefined ? {} : { failure }), ...(shortfall === undefined ? {} : { shortfall }) };
  }

  /** Whether a text is another one than the pod's last. */
  isNews(pod: string, text: string): boolean {
    return this.#failures.get(pod) !== text && this.#shortfalls.get(pod) !== text;
  }

  note(pod: string, { failure, shortfall }: PodOutcome): void {
    this.#note(this.#failures, pod, failure);
    this.#note(this.#shortfalls, pod, shortfall);
  }

  /** Forgets a pod that is gone. */
  forget(pod: string): void {
    this.#failures.delete(pod);
    this.#shortfalls.delete(pod);
  }

  #note(texts: Map<string, string>, pod: string, text: string): void {
    if (text === "") return void texts.delete(pod);
    if (texts.get(pod) !== text) this.#warn(`pod ${pod}: ${text}`);
    texts.set(pod, text);
  }
}
