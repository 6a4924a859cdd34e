// The rows that no test holds, with reasons. checklist.test.ts fails if a held row is listed here.

export interface Open {
  /** The reason why no test holds the row. */
  readonly reason: string;
  /** The text of an issue about the row. */
  readonly issue: string;
}

export const openRows: Readonly<Record<string, Open>> = {
  "KU-19": {
    reason: "The row is about Kuryr's own programs. Plexus' shim and daemon have their own socket.",
    issue: "Nothing is to be done.",
  },
};
