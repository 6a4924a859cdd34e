// The pause before a request is repeated.

const firstMs = 100;
const defaultMaxMs = 4_000;

/**
 * Milliseconds before repetition `attempt` (from 0): doubles with each attempt up to `maxMs`, with jitter between half and all of
 * it.
 */
export function backoffMs(attempt: number, random: () => number, maxMs = defaultMaxMs): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
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
