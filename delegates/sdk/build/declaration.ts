// `delegate.json`: a delegate's declaration, which is stored in the component's `plexus:delegate` section.

import { z } from "zod";
import { closest } from "../../../src/configuration/closest.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { valueAt, wrongValue } from "../testing/wrong-value.ts";
import { delegateName, delegateNameRule } from "./delegate-name.ts";

/** The custom section's name. */
export const declarationSection = "plexus:delegate";

const line = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{C}\u2028\u2029]*$/u, "must be one line without control characters");

const schema = z.strictObject({
  /** The plugin type: the file name that a configuration's `type` refers to. */
  name: z.string().regex(delegateName, delegateNameRule),
  /** The version of `cni:delegate` for which the delegate is built. */
  abi: line,
  version: z.string().regex(/^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/, "must be a semantic version"),
  about: line,
  /** The CNI versions of the configurations that the delegate accepts: its answer to VERSION. */
  cniVersions: z.array(z.string().regex(/^\d+\.\d+\.\d+$/, "must be a CNI version such as 1.1.0")).min(1),
  /** Each capability, with the reason for the administrator who grants it. */
  capabilities: z.record(z.string(), line),
  /** The capabilities without which the delegate works, too. A node loads the component also without their grants. */
  optional: z.array(z.string()).optional(),
});

/** The content of a `delegate.json`. */
export type Declaration = z.infer<typeof schema>;

function requireOptional({ capabilities, optional = [] }: Declaration): void {
  const stray = optional.find((name) => !Object.hasOwn(capabilities, name));
  if (stray !== undefined)
    throw new Error(`delegate.json: optional: "${stray}" is not in capabilities: add it there, with its reason`);
}

/** For each member that a declaration must have, an example. */
const examples: Readonly<Record<string, unknown>> = {
  name: "my-delegate",
  version: "0.1.0",
  about: "What the delegate does, in one line",
  cniVersions: ["1.0.0", "1.1.0"],
  capabilities: { log: "Says what it does" },
};

/** One mistake: the member, what is wrong, and for a missing member what to add. */
function mistakeText(issue: z.core.$ZodIssue, declaration: unknown, releases: readonly string[]): string {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const nearest = issue.keys.map((key) => closest(key, Object.keys(schema.shape))).find((each) => each !== undefined);
    return `(top): ${issue.message}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  }
  const [key = ""] = path;
  if (path.length !== 1 || valueAt(declaration, path) !== undefined) return wrongValue(issue, declaration);
  const example = key === "abi" ? (releases.at(-1) ?? "1.0.0") : examples[key];
  return `${key} is missing: add ${JSON.stringify(key)}: ${JSON.stringify(example)}`;
}

/**
 * Parses a `delegate.json`. `capabilitiesOf` answers the capabilities of an ABI version, null for an unknown version; `releases` are the versions for the error about one. Throws an
 * Error that names every wrong field, and for an unknown capability (E-8) also the valid ones.
 */
export function parseDeclaration(
  text: string,
  capabilitiesOf: (abi: string) => readonly string[] | null,
  releases: readonly string[] = [],
): Declaration {
  const document = parseDocument(text, { what: "delegate.json" });
  if (!document.ok) throw new Error(document.fault.msg);
  const parsed = schema.safeParse(document.value.parsed);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map((issue) => mistakeText(issue, document.value.parsed, releases));
    throw new Error(`delegate.json: ${mistakes.join("; ")}`);
  }
  const declaration = parsed.data;
  const valid = capabilitiesOf(declaration.abi);
  if (valid === null) {
    const known = releases.length === 0 ? "" : `; valid: ${releases.join(", ")}`;
    throw new Error(`delegate.json: abi: cni:delegate@${declaration.abi} does not exist${known}`);
  }
  const unknown = Object.keys(declaration.capabilities).filter((capability) => !valid.includes(capability));
  if (unknown.length > 0) {
    const list = unknown.map((capability) => `"${capability}"`).join(", ");
    throw new Error(
      `delegate.json: capabilities: ${list} unknown; cni:delegate@${declaration.abi} has ${valid.toSorted().join(", ")}`,
    );
  }
  requireOptional(declaration);
  return declaration;
}
