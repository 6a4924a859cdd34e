// Which bridges the applies of this process use now: one that an apply made and takes back is left where another one counts on it.

const users = new Map<string, number>();

export const bridgesInUse = {
  /** Until `leave`. */
  enter(names: Iterable<string>): void {
    for (const name of names) users.set(name, (users.get(name) ?? 0) + 1);
  },

  leave(names: Iterable<string>): void {
    for (const name of names) {
      const left = (users.get(name) ?? 1) - 1;
      if (left === 0) users.delete(name);
      else users.set(name, left);
    }
  },

  /** Whether somebody besides the one who asks is in. */
  byOthers: (name: string): boolean => (users.get(name) ?? 0) > 1,
};
