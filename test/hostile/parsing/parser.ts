// A parser of data that Plexus has not made itself, with a valid sample, which the test grows.

/** A parser with a valid sample. */
export type Parser = {
  readonly name: string;
  /** The exported functions that the parser is or that it calls for each input. */
  readonly covers?: readonly string[];
} & (
  | {
      readonly kind: "json";
      readonly sample: unknown;
      readonly keys?: readonly string[];
      readonly parse: (text: string) => unknown;
    }
  | {
      readonly kind: "value";
      readonly sample: unknown;
      readonly keys?: readonly string[];
      readonly parse: (value: unknown) => unknown;
    }
  | { readonly kind: "text"; readonly sample: string; readonly parse: (text: string) => unknown }
);

/** The value, if it is an object; otherwise an empty object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** A parser whose refusals are exceptions. */
export function attempted(parse: (value: unknown) => unknown): (value: unknown) => unknown {
  return (value) => {
    try {
      return parse(value);
    } catch {
      return undefined;
    }
  };
}
