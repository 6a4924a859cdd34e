// The host calls of one run, recorded with their answers, and their replay: the same component then gives the same answer without a node.

import { isDeepStrictEqual } from "node:util";

/** One call of a capability's function. */
export interface RecordedCall {
  /** Such as `leases.reserve`. */
  readonly name: string;
  readonly args: unknown;
  readonly answer: unknown;
}

/** Answers a host call; `ask` calls the simulated node. */
export type AnswerCall = (name: string, args: readonly unknown[], ask: () => unknown) => unknown;

/** An absent option of a record, which JSON cannot express. */
const absentKey = "$absent";

/** Adds each call to `calls`. */
export function recordingTo(calls: RecordedCall[]): AnswerCall {
  return (name, args, ask) => {
    const answer = ask();
    calls.push({ name, args: encoded(args), answer: encoded(answer) });
    return answer;
  };
}

/** Answers with the recorded calls, in their order. The answering function throws an Error for a call that differs from the recorded one. */
export function replayOf(calls: readonly RecordedCall[]): { readonly answer: AnswerCall; readonly left: () => number } {
  let next = 0;
  const answer: AnswerCall = (name, args) => {
    const expected = calls[next];
    const shown = `${name}(${JSON.stringify(encoded(args)).slice(1, -1)})`;
    next += 1;
    if (expected === undefined) throw new Error(`replay: call ${next}, ${shown}, was not recorded`);
    if (expected.name !== name || !isDeepStrictEqual(expected.args, encoded(args)))
      throw new Error(
        `replay: call ${next} is ${shown}; recorded: ${expected.name}(${JSON.stringify(expected.args).slice(1, -1)})`,
      );
    return decoded(expected.answer);
  };
  return { answer, left: () => calls.length - next };
}

/** The calls in the text of a file that `--record` wrote. Throws an Error that names the field. */
export function recordedCalls(text: string): readonly RecordedCall[] {
  const value: unknown = JSON.parse(text);
  const calls: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "calls") : undefined;
  if (!Array.isArray(calls)) throw new Error("calls: must be an array");
  return calls.map((call: unknown, index): RecordedCall => {
    if (typeof call !== "object" || call === null || !("name" in call) || typeof call.name !== "string")
      throw new Error(`calls.${index}.name: must be a text`);
    if (!("args" in call) || !Array.isArray(call.args) || !("answer" in call))
      throw new Error(`calls.${index}: args must be an array, and answer must be present`);
    return { name: call.name, args: call.args, answer: call.answer };
  });
}

/** The text of a file with these calls. */
export function recordedText(calls: readonly RecordedCall[]): string {
  return `${JSON.stringify({ apiVersion: "plexus/v1", kind: "RecordedCalls", calls }, undefined, 2)}\n`;
}

function encoded(value: unknown): unknown {
  if (value === undefined) return { [absentKey]: true };
  if (Array.isArray(value)) return value.map(encoded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, encoded(member)]));
}

function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== "object" || value === null) return value;
  if (absentKey in value) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, decoded(member)]));
}
