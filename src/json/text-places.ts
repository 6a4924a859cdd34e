// Places in one JSON text, for many questions about it: each object and array is scanned once, and so are the lines.

import { findMistake } from "./mistake.ts";
import type { JsonPath, Position } from "./position.ts";
import { scan } from "./scan.ts";

/** Start and end of a value. */
interface Extent {
  readonly start: number;
  readonly end: number;
}

/** The direct values of an object or an array. */
interface Container {
  readonly members: ReadonlyMap<string, Extent>;
  readonly elements: readonly Extent[];
}

const nothing: Container = { members: new Map(), elements: [] };

/** The places in a text. The text must be JSON for the offsets of paths. */
export class TextPlaces {
  readonly text: string;
  /** By the offset of the value. */
  readonly #containers = new Map<number, Container>();
  #lineStarts: readonly number[] | undefined;
  #mistake: { readonly offset: number | undefined } | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The offset of the value at `path`; undefined if there is none. */
  offsetOf(path: JsonPath): number | undefined {
    return this.#find(path)?.start;
  }

  /** The offset of the value at the longest part of `path` that the text has. */
  nearest(path: JsonPath): number {
    let extent: Extent = { start: 0, end: this.text.length };
    for (const step of path) {
      const next = this.#step(extent, step);
      if (next === undefined) return extent.start;
      extent = next;
    }
    return extent.start;
  }

  /** The number of elements of the array at `path`; 0 for another value. */
  lengthOf(path: JsonPath): number {
    const extent = this.#find(path);
    return extent === undefined ? 0 : this.#container(extent).elements.length;
  }

  /** The offset of the first mistake as JSON, or of the first repeated key; undefined if there is neither. */
  mistake(): number | undefined {
    const { text } = this;
    this.#mistake ??= { offset: findMistake(text)?.offset ?? scan(text, Number.MAX_SAFE_INTEGER).duplicate?.offset };
    return this.#mistake.offset;
  }

  /** The line and the column of an offset. */
  position(offset: number): Position {
    this.#lineStarts ??= lineStartsOf(this.text);
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }

  #find(path: JsonPath): Extent | undefined {
    let extent: Extent | undefined = { start: 0, end: this.text.length };
    for (const step of path) {
      extent = this.#step(extent, step);
      if (extent === undefined) return undefined;
    }
    return extent;
  }

  #step(extent: Extent, step: string | number): Extent | undefined {
    const { members, elements } = this.#container(extent);
    return typeof step === "number" ? elements[step] : members.get(step);
  }

  #container({ start, end }: Extent): Container {
    const known = this.#containers.get(start);
    if (known !== undefined) return known;
    const made = containerOf(this.text.slice(start, end), start);
    this.#containers.set(start, made);
    return made;
  }
}

function containerOf(text: string, base: number): Container {
  const { spans, open } = scan(text, Number.MAX_SAFE_INTEGER);
  if (open === 0) return nothing;
  const extents = spans.map(({ valueStart, valueEnd }) => ({ start: base + valueStart, end: base + valueEnd }));
  if (text[open - 1] === "[") return { members: nothing.members, elements: extents };
  const members = new Map<string, Extent>();
  for (const [index, { key }] of spans.entries()) {
    const extent = extents[index];
    // The first of repeated keys.
    if (extent !== undefined && !members.has(key)) members.set(key, extent);
  }
  return { members, elements: [] };
}

function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The text of the last question: questions about one text follow one another. */
let last = new TextPlaces("");

/** The places in a text. Many questions about one text, without others in between, cost one pass for each level of its nesting. */
export function placesOf(text: string): TextPlaces {
  if (last.text !== text) last = new TextPlaces(text);
  return last;
}
