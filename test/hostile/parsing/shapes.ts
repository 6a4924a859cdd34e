// The worst shapes that an author can give to a text or a document that Plexus parses: a valid sample, grown at each of its places.

/** A grown input. */
export interface Shape<T> {
  /** Says where and how the sample was grown. */
  readonly name: string;
  readonly make: () => T;
}

/** Texts that are repeated at a place of a sample: words, separators of all grammars, quotes, escapes, digits, and letters outside of ASCII. */
const repeated: readonly string[] = [
  "a", "0", " ", "\n", "-", ".", "/", ":", ",", ";", "=", "*", "\\", '"', "'", "[", "{", "<", "%", "\u0000", "\u00e9", "\u{1f600}",
  "a.", "a-", "a/", "a,", "a=", "a=b;", "a=b,", "1.", "1:", "::", "0:", "/a", "-a", "a ", "\n ", "- a\n", "a: b\n", 'k="v",', "secret=", '"secret":',
  "://a:b@", "-----BEGIN PRIVATE KEY-----", "eyJhbGciOi.", "{}", "[a-", "(", "(a|", "a+", "name@", "$", "^", "\r\n",
]; // prettier-ignore

/** Keys that nearly are one of `keys`, each once: mistyped, in other cases, and with a number. */
function nearMiss(keys: readonly string[], index: number): string {
  const key = keys[index % keys.length] ?? "key";
  const kind = index % 4;
  if (kind === 0) return `${key}${index.toString(36)}`;
  if (kind === 1) return `${index.toString(36)}${key.toUpperCase()}`;
  if (kind === 2) return `${key.slice(0, -1)}_${index.toString(36)}`;
  return `${key.slice(1)}${index.toString(36)}`;
}

function fill(length: number, sizeOf: (index: number) => number, add: (index: number) => void): void {
  for (let index = 0, size = 0; size < length; index++) {
    size += sizeOf(index);
    add(index);
  }
}

function manyKeys(object: Readonly<Record<string, unknown>>, keyOf: (index: number) => string, value: unknown, length: number) {
  const grown: Record<string, unknown> = { ...object };
  const each = JSON.stringify(value).length + 4;
  fill(
    length,
    (index) => keyOf(index).length + each,
    (index) => (grown[keyOf(index)] = value),
  );
  return grown;
}

function nested(length: number, open: "[" | "{"): unknown {
  // JSON.parse and JSON.stringify are recursive, so that the nesting of a value stays below the stack's limit.
  const levels = Math.min(500, length / 8);
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = open === "[" ? [value] : { a: value };
  return value;
}

type Growth = readonly [name: string, grow: (value: unknown, length: number) => unknown];

const common: readonly Growth[] = [
  ["is a long text", (_, length) => "a".repeat(length)],
  ["is nested in lists", (_, length) => nested(length, "[")],
  ["is nested in objects", (_, length) => nested(length, "{")],
  ["is many numbers", (_, length) => Array.from({ length: length / 4 }, (__, index) => index % 100)],
  ["is many empty objects", (_, length) => Array.from({ length: length / 3 }, () => ({}))],
  ["is many keys", (_, length) => manyKeys({}, (index) => `k${index.toString(36)}`, 1, length)],
];

function growthsOf(value: unknown, keys: readonly string[]): readonly Growth[] {
  if (typeof value === "string")
    return [
      ...common,
      ...repeated.flatMap((part): Growth[] => [
        [`is followed by many ${JSON.stringify(part)}`, (text, length) => `${String(text)}${repeat(part, length)}`],
        [`is preceded by many ${JSON.stringify(part)}`, (text, length) => `${repeat(part, length)}${String(text)}`],
      ]),
      ...[",", ";", "\n", " ", ""].map((separator): Growth => [
        `is repeated with ${JSON.stringify(separator)}`,
        (text, length) => repeat(`${String(text)}${separator}`, length),
      ]),
    ];
  if (Array.isArray(value)) {
    const elements = value.map((each): unknown => each);
    const [first] = elements;
    const size = JSON.stringify(first ?? 1).length + 1;
    return [
      ...common,
      [
        "repeats its elements",
        (_, length) => Array.from({ length: length / size }, (__, index) => elements[index % elements.length]),
      ],
      [
        "has many different elements",
        (_, length) => Array.from({ length: length / size }, (__, index) => numbered(first, index)),
      ],
    ];
  }
  if (typeof value === "object" && value !== null) {
    const own = value as Readonly<Record<string, unknown>>; // eslint-disable-line
    const near = [...Object.keys(own), ...keys];
    const [member = 1] = Object.values(own);
    return [
      ...common,
      ["has many unknown keys", (_, length) => manyKeys(own, (index) => `k${index.toString(36)}`, 1, length)],
      ["has many keys that nearly are valid", (_, length) => manyKeys(own, (index) => nearMiss(near, index), 1, length)],
      ["has many long keys", (_, length) => manyKeys(own, (index) => `${"k".repeat(200)}${index}`, 1, length)],
      ["has many keys with a dot", (_, length) => manyKeys(own, (index) => `a.b/k${index}`, "", length)],
      ["has many of its members", (_, length) => manyKeys(own, (index) => `k${index}`, member, length)],
      ["has one long key", (_, length) => ({ ...own, ["name".repeat(length / 4)]: 1 })],
    ];
  }
  return common;
}

/** The value with its texts, or its own text, made different by a number. */
function numbered(value: unknown, index: number): unknown {
  if (typeof value === "string") return `${value}${index}`;
  if (typeof value === "number") return index;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, typeof each === "string" ? `${each}${index}` : each]),
  );
}

function repeat(part: string, length: number): string {
  return part === "" ? "" : part.repeat(Math.ceil(length / part.length));
}

type Path = readonly (string | number)[];

/** The places of a sample: itself, and everything in it. Of a list only the first element. */
function* places(value: unknown, path: Path = []): Generator<readonly [Path, unknown]> {
  yield [path, value];
  if (Array.isArray(value)) {
    if (value.length > 0) yield* places(value[0], [...path, 0]);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) yield* places(each, [...path, key]);
  }
}

/** The sample with another value at a place. */
function replaced(sample: unknown, path: Path, value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(sample)) return sample.map((each, index): unknown => (index === first ? replaced(each, rest, value) : each));
  return Object.fromEntries(
    Object.entries(sample ?? {}).map(([key, each]) => [key, key === first ? replaced(each, rest, value) : each]),
  );
}

/** The grown documents of a sample, of about `length` characters as JSON. `keys`: valid keys that the sample lacks. */
export function valueShapes(sample: unknown, keys: readonly string[], length: number): readonly Shape<unknown>[] {
  return [...places(sample)].flatMap(([path, value]) =>
    growthsOf(value, keys).map(([name, grow]): Shape<unknown> => ({
      name: `/${path.join("/")} ${name}`,
      make: () => replaced(sample, path, grow(value, length)),
    })),
  );
}

/** The grown texts of a document: those of `valueShapes` as JSON, and mistakes that only a text can have. */
export function jsonShapes(sample: unknown, keys: readonly string[], length: number): readonly Shape<string>[] {
  const text = JSON.stringify(sample);
  const array = Array.isArray(sample);
  const inside = (content: string): string => (array ? `[${content}]` : `{${content}}`);
  const more: readonly Shape<string>[] = [
    ["one key again and again", () => inside(array ? repeat('{"a":1,"a":1},', length) : repeat('"a":1,', length).slice(0, -1))],
    ["brackets that are never closed", () => repeat("[", length)],
    ["braces that are never closed", () => repeat('{"a":', length)],
    ["a mistake at the end", () => `${JSON.stringify({ a: "b".repeat(length) })}}`],
    ["a mistake after many strings", () => inside(`${repeat('"a":"b",', length)}x`)],
    ["a long number", () => inside(`"a":${"1".repeat(length)}`)],
    ["many exponents", () => `[${repeat("1e9,", length)}1]`],
    ["many escapes", () => inside(`"a":"${repeat(String.raw`\u0041`, length)}"`)],
    ["backslashes and quotes", () => inside(`"a":"${repeat(String.raw`\\\"`, length)}"`)],
    ["a key of escapes", () => inside(`"${repeat(String.raw`\u0041`, length)}":1`)],
    ["white space", () => `${" ".repeat(length)}${text}`],
    ["white space at the end", () => `${text}${"\n".repeat(length)}`],
    ["lines before a mistake", () => `${"\n".repeat(length)}x`],
  ].map(([name, make]) => ({ name: String(name), make: make as () => string })); // eslint-disable-line
  return [...valueShapes(sample, keys, length).map(({ name, make }) => ({ name, make: () => JSON.stringify(make()) })), ...more];
}

/** The grown texts of a sample that is not JSON. */
export function textShapes(sample: string, length: number): readonly Shape<string>[] {
  const middle = Math.floor(sample.length / 2);
  return [
    ...growthsOf(sample, []).map(([name, grow]): Shape<string> => ({ name, make: () => textOf(grow(sample, length)) })),
    ...repeated.map((part): Shape<string> => ({
      name: `has many ${JSON.stringify(part)} within`,
      make: () => `${sample.slice(0, middle)}${repeat(part, length)}${sample.slice(middle)}`,
    })),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
