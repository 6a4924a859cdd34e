// The differences between two JSON values, one line each.

/** Greatest length of a shown value, in UTF-16 units. */
const maxShown = 200;

/** One line for each member that differs: `ips.0.address: expected "10.1.0.5/24", answered "10.1.0.6/24"`. Empty: the values are equal. */
export function differences(expected: unknown, answered: unknown, at = ""): string[] {
  if (isObject(expected) && isObject(answered) && Array.isArray(expected) === Array.isArray(answered)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(answered)]);
    return [...keys].flatMap((key) =>
      differences(Reflect.get(expected, key), Reflect.get(answered, key), at === "" ? key : `${at}.${key}`),
    );
  }
  if (Object.is(expected, answered)) return [];
  return [`${at || "(answer)"}: expected ${shown(expected)}, answered ${shown(answered)}`];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
