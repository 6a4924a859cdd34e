// The rows that no test holds, and why. A row that is held must not be here: checklist.test.ts sees to that.

export interface Open {
  /** Why it isn't held. */
  readonly reason: string;
  /** What an issue about it would say. */
  readonly issue: string;
}

export const openRows: Readonly<Record<string, Open>> = {};
