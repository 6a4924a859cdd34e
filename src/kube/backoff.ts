// The pause before a request is repeated.

const firstPauseMs = 100;

/**
 * Milliseconds before repetition `attempt` (from 0): doubles with each attempt up to `maxMs`, with jitter between half and all of
 * it.
 */
export function backoffMs(attempt: number, random: () => number, maxMs = 4_000): number {
  const ceiling = Math.min(maxMs, firstPauseMs * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** The most that is added to a pause that a server asks for, in ms. */
const maxSpreadMs = 10_000;

/**
 * Milliseconds before repetition `attempt`: at least the pause that the server asks for (`askedMs`; 0: none). A server that refuses many clients at once asks each
 * of them for the same pause, and would refuse them again if all came back at its end: so the pause is lengthened by a part of itself.
 */
export function pauseBefore(attempt: number, random: () => number, askedMs: number, maxMs?: number): number {
  const spreadMs = random() * Math.min(askedMs, maxSpreadMs);
  return Math.max(askedMs + spreadMs, backoffMs(attempt, random, maxMs));
}

/** Longest pause in ms that an API server may ask for: a watch that stays away for longer would leave old policies in force. */
const maxPauseMs = 600_000;

/** As `retryAfterMs`, at most 10 minutes. A timer of more than 24 days would end at once, so a longer pause would be none. */
export function serverPauseMs(
  header: string | undefined,
  parseDate: (text: string) => number,
  nowMs: number,
): number | undefined {
  const ms = retryAfterMs(header, parseDate, nowMs);
  return ms === undefined ? undefined : Math.min(ms, maxPauseMs);
}

/**
 * Milliseconds of a Retry-After header (RFC 9110, 10.2.3), which is a number of seconds or a date. `nowMs` is the time since the
 * epoch. Undefined for a missing or malformed header.
 */
export function retryAfterMs(header: string | undefined, parseDate: (text: string) => number, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = parseDate(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
