// The request of `run` and `bench`: a CNI configuration as a runtime sends it, or a vector's `.in.json` with the node's state.

import { readFileSync } from "node:fs";
import type { Vector } from "../testing/vector.ts";
import { CommandError, exitCode } from "./command.ts";
import { readFailure } from "./read-failure.ts";

/** The options that describe the request and the simulated node. */
export const requestOptions = [
  { name: "request", value: "FILE", about: "the request; default: stdin" },
  {
    name: "state",
    value: "JSON",
    about: "the node's state as members of a vector (leases, links, sysctl, env, …), inline or as a file's path",
  },
  { name: "grants", value: "NAMES", about: "the granted capabilities, separated by commas; default: all" },
] as const;

const verbs = ["ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"] as const;

/** A verb of a CNI plugin. */
export type RunVerb = (typeof verbs)[number];

/** The verb, in any case. Throws a CommandError. */
export function verbOf(text: string): RunVerb {
  const found = verbs.find((each) => each === text.toUpperCase());
  if (found !== undefined) return found;
  throw new CommandError(`${text} is no verb of CNI (valid: ${verbs.join(", ")})`, exitCode.usage);
}

/** The granted capabilities; undefined: all. */
export function grantsOn(values: ReadonlyMap<string, string>): readonly string[] | undefined {
  return values
    .get("grants")
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

const environment = { CNI_CONTAINERID: "plexus-run", CNI_NETNS: "/run/netns/plexus-run", CNI_IFNAME: "eth0" };

/**
 * The request as a vector. A document with the member `stdin` is a vector, any other is the configuration itself, whose text stays as it is.
 * Throws a CommandError that names the file and the field.
 */
export async function requestOn(values: ReadonlyMap<string, string>, verb: RunVerb): Promise<Vector> {
  const { vectorOf } = await import("../testing/vector.ts");
  const { memberText, parseDocument } = await import("../../../src/json/document.ts");
  const file = values.get("request");
  const name = file ?? "stdin";
  const text = read(file ?? 0, name);
  const document = parseDocument(text, { what: name });
  if (!document.ok) throw new CommandError(document.fault.msg, exitCode.usage);
  const inVector = memberText(document.value, "stdin");
  const state = stateOf(values.get("state"));
  const fields = inVector === undefined ? {} : { ...document.value.parsed };
  const stdin = inVector ?? text;
  const { env, stdin: _stdin, ...rest } = { ...fields, ...state };
  const whole = {
    ...rest,
    about: "A run.",
    verb: verb === "VERSION" ? "STATUS" : verb,
    env: { ...environment, ...(typeof env === "object" ? env : {}) },
    stdin: {},
  };
  // The exact text of the configuration: a delegate reads it byte for byte.
  const joined = `${JSON.stringify(whole).slice(0, -`"stdin":{}}`.length)}"stdin":${stdin}}`;
  try {
    return vectorOf(name, joined, "run");
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), exitCode.usage, { cause: error });
  }
}

function stateOf(given: string | undefined): Record<string, unknown> {
  if (given === undefined) return {};
  const isInline = given.trimStart().startsWith("{");
  const text = isInline ? given : read(given, given);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new CommandError(`--state: ${error instanceof Error ? error.message : String(error)}`, exitCode.usage, {
      cause: error,
    });
  }
  throw new CommandError("--state: must be a JSON object", exitCode.usage);
}

function read(from: string | 0, name: string): string {
  try {
    return readFileSync(from, "utf8");
  } catch (error) {
    throw new CommandError(readFailure(name, error), exitCode.usage, { cause: error });
  }
}
