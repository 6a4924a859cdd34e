// The time since an event, as a person says it: in plexusctl's tables and on its page.

const units = [
  { seconds: 86_400, short: "d", name: "day" },
  { seconds: 3600, short: "h", name: "hour" },
  { seconds: 60, short: "m", name: "minute" },
] as const;

/**
 * The time from `since` to `now` (both ISO 8601) in the largest unit of which at least two have passed: `3h` or, in words, `3 hours`; `?` or `unknown`
 * if a time is missing or has another form.
 */
export function ageOf(since: string | undefined, now: string, form: "short" | "words"): string {
  const seconds = Math.round((Date.parse(now) - Date.parse(since ?? "")) / 1000);
  if (Number.isNaN(seconds)) return form === "short" ? "?" : "unknown";
  const unit = units.find((each) => seconds >= 2 * each.seconds) ?? { seconds: 1, short: "s", name: "second" };
  const count = Math.max(0, Math.floor(seconds / unit.seconds));
  return form === "short" ? `${count}${unit.short}` : `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}
