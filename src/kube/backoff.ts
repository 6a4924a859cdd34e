// How long to wait before a request is repeated.

const firstMs = 100;
const longestMs = 4_000;

/** Milliseconds before repetition `attempt` (from 0): doubled each time up to a bound, and jittered between half and all of it. */
export function backoffMs(attempt: number, random: () => number, longest = longestMs): number {
  const ceiling = Math.min(longest, firstMs * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/**
 * Milliseconds of a Retry-After header (RFC 9110, 10.2.3): seconds or a date; `nowMs` is the time since the epoch. Undefined
 * where there is none that can be understood.
 */
export function retryAfterMs(header: string | undefined, parseDate: (text: string) => number, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = parseDate(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
