// The host calls of one run, recorded with their answers, and their replay: the same component then gives the same answer without a node.

import { encodeValue } from "../../../src/chain-trace/import-values.ts";
import { ImportReplay, type RecordedImport } from "../../../src/chain-trace/import-replay.ts";

/** One call of a capability's function. */
export type RecordedCall = RecordedImport;

/** Answers a host call; `ask` calls the simulated node. */
export type AnswerCall = (name: string, args: readonly unknown[], ask: () => unknown) => unknown;

/** Adds each call to `calls`. */
export function recordingTo(calls: RecordedCall[]): AnswerCall {
  return (name, args, ask) => {
    const answer = ask();
    calls.push({ name, args: encodeValue(args), answer: encodeValue(answer) });
    return answer;
  };
}

/** Answers with the recorded calls, in their order. The answering function throws an Error for a call that differs from the recorded one. */
export function replayOf(calls: readonly RecordedCall[]): { readonly answer: AnswerCall; readonly left: () => number } {
  const replay = new ImportReplay(calls);
  const answer: AnswerCall = (name, args) => {
    const answered = replay.answer(name, args);
    if ("difference" in answered) throw new Error(`replay: ${answered.difference}`);
    return answered.answer;
  };
  return { answer, left: () => replay.left };
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
