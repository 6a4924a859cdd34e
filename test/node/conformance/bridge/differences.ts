// Lists the differences of two structures as lines, because a whole snapshot in a failure's message hides the relevant line.

/** Each difference as path, first value and second value. At most `max` lines. */
export function differences(first: unknown, second: unknown, max = 12): readonly string[] {
  const [one, other] = [leaves(first), leaves(second)];
  const paths = [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
  const lines = paths.map((path) => `${path}: ${one.get(path) ?? "nothing"}, ${other.get(path) ?? "nothing"}`);
  return lines.length > max ? [...lines.slice(0, max), `and ${lines.length - max} more`] : lines;
}

function leaves(value: unknown, path = "", found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (value === undefined) return found;
  if (typeof value !== "object" || value === null) return found.set(path, JSON.stringify(value));
  const entries = Object.entries(value);
  if (entries.length === 0) found.set(path, Array.isArray(value) ? "[]" : "{}");
  for (const [key, each] of entries) leaves(each, path === "" ? key : `${path} ${key}`, found);
  return found;
}
