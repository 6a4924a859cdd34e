// The memory that the recording of one call may use.

/** Maximum UTF-16 units of a call's texts. */
const maxCallLength = 4 * 1024 * 1024;
/** Maximum UTF-16 units of one text. */
const maxTextLength = 1024 * 1024;

/** Counts the texts of one call. */
export class TextBudget {
  #left = maxCallLength;

  /** The text if the budget has enough left; undefined otherwise. */
  take(text: string): string | undefined {
    return this.charge(text.length) ? text : undefined;
  }

  /** Subtracts a text of this many UTF-16 units from the budget. False: the budget has fewer left. */
  charge(length: number): boolean {
    if (length > Math.min(this.#left, maxTextLength)) return false;
    this.#left -= length;
    return true;
  }
}
