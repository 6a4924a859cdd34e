// The computing time of a parser for a grown input.

import { cpuMs } from "../../lab/cpu-ms.ts";
import type { Parser } from "./parser.ts";
import { jsonShapes, type Shape, textShapes, valueShapes } from "./shapes.ts";

/** An input of a parser, ready to be parsed. */
export interface Case {
  readonly name: string;
  /** Makes the input of about this many characters, and answers the function that parses it. */
  readonly prepare: () => () => unknown;
}

/** The cases of a parser with inputs of about `length` characters. */
export function casesOf(parser: Parser, length: number): readonly Case[] {
  switch (parser.kind) {
    case "json":
      return jsonShapes(parser.sample, parser.keys ?? [], length).map((shape) => caseOf(parser.name, shape, parser.parse));
    case "value":
      return valueShapes(parser.sample, parser.keys ?? [], length).map((shape) => caseOf(parser.name, shape, parser.parse));
    case "text":
      return textShapes(parser.sample, length).map((shape) => caseOf(parser.name, shape, parser.parse));
  }
}

function caseOf<T>(parser: string, { name, make }: Shape<T>, parse: (input: T) => unknown): Case {
  return {
    name: `${parser}: ${name}`,
    prepare: () => {
      const input = make();
      return () => parse(input);
    },
  };
}

let yardsticks = 0;

/** The work of an ordinary reader for some 100 KB: it parses 5,000 members of JSON and keeps them by their names. */
export const yardstick: Case = {
  name: "yardstick",
  prepare: () => {
    const turn = yardsticks++;
    const members = Array.from({ length: 5000 }, (_, index) => [`key-${turn}-${index}`, `value ${index}`]);
    const text = JSON.stringify(Object.fromEntries(members));
    return () => new Map(Object.entries(JSON.parse(text) as object)).size;
  },
};

/** The CPU time of a case in ms: the least of some tries, the first of which that is at most `enoughMs` ends the search. */
export function costMs({ prepare }: Case, enoughMs: number, tries = 8): number {
  let least = Infinity;
  for (let index = 0; index < tries && least > enoughMs; index++) {
    // A new input each time: a parser may remember the texts that it has seen.
    const parse = prepare();
    const before = cpuMs();
    parse();
    least = Math.min(least, cpuMs() - before);
  }
  return least;
}
