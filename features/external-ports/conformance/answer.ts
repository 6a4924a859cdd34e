// An answer of the provider under test, and how checks name it.

import { type ProvidedPort, readProvidedPort } from "../rules/provided-port.ts";
import { quote } from "../../../src/json/quote.ts";
import { Violation } from "./verdict.ts";

/** An answer, or why there is none. */
export interface Answer {
  /** 0: no answer. */
  readonly status: number;
  /** The body, if it is a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Why there is no answer. */
  readonly why: string;
}

/** HTTP statuses of a request in a wrong form. */
export const invalidStatuses: readonly number[] = [400, 422];
/** HTTP statuses of a final no. */
export const finalStatuses: readonly number[] = [400, 403, 404, 409, 422];

/** Whether the provider did what was asked. */
export function isDone({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** The answer as a part of a sentence. */
export function described({ status, body, why }: Answer): string {
  if (status === 0) return `there is no answer (${why})`;
  const message = typeof body?.["message"] === "string" ? `: ${quote(body["message"], 200)}` : "";
  return `the answer is HTTP ${status}${message}`;
}

/** Throws a Violation unless the status is one of these. `request`: what was sent. */
export function demandStatus(answer: Answer, statuses: readonly number[], request: string): void {
  if (!statuses.includes(answer.status))
    throw new Violation(`${request}: ${described(answer)}; expected is ${statuses.join(" or ")}`);
}

/** Throws a Violation unless the provider did what was asked. */
export function demandDone(answer: Answer, request: string): void {
  if (!isDone(answer)) throw new Violation(`${request}: ${described(answer)}; expected is 200`);
}

/** The port of an answer to `ensure`, or the problem. */
export function portOf(answer: Answer): ProvidedPort | string {
  if (!isDone(answer)) return described(answer);
  const port = readProvidedPort(answer.body?.["port"]);
  return port.ok ? port.value : `port: ${port.problem}`;
}

/** The addresses of a port without prefix lengths. */
export function addressesOf({ addresses }: ProvidedPort): readonly string[] {
  return addresses.map(({ address }) => address.slice(0, address.indexOf("/")));
}
