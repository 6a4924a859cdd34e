// Numbers and times as texts of the page.

/** A duration: 1.2 µs is too exact for a page, so less than 10 ms has two digits after the point. */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toFixed(1)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** The time of day of an ISO 8601 time, with milliseconds, in UTC. */
export function timeOfDay(time: string): string {
  return /T([\d:.]+)Z$/.exec(time)?.[1] ?? time;
}

/** The text with at most `maxCharacters` characters; a longer one ends in an ellipsis. Never cuts through a surrogate pair. */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // A character has at most two UTF-16 units.
  const characters = Array.from(text.slice(0, maxCharacters * 2));
  const isWhole = characters.length <= maxCharacters && text.length <= maxCharacters * 2;
  return isWhole ? text : `${characters.slice(0, maxCharacters - 1).join("")}…`;
}

/** The median; undefined for no numbers. */
export function median(numbers: readonly number[]): number | undefined {
  const ordered = numbers.toSorted((one, other) => one - other);
  return ordered[Math.floor((ordered.length - 1) / 2)];
}

/** Whether one of the texts contains the wanted text, without regard to case. */
export function matches(wanted: string, ...texts: readonly string[]): boolean {
  const lower = wanted.trim().toLowerCase();
  return lower === "" || texts.some((text) => text.toLowerCase().includes(lower));
}
