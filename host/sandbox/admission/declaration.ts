// What a delegate says of itself: the custom section `plexus:delegate`, JSON.

import { z } from "zod";
import { closest } from "../../../src/configuration/closest.ts";
import { refuse } from "../binary/refusal.ts";

const line = (most: number) =>
  z
    .string()
    .check(z.minLength(1), z.maxLength(most), z.regex(/^[^\p{C}\u2028\u2029]*$/u, "must be one line without control characters"));
const dotted = z
  .string()
  .check(z.regex(/^(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})$/, "must be a version such as 1.0.0"));

const declarationSchema = z.strictObject({
  name: z.string().check(z.regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "must be 1 to 63 of a-z, 0-9, - and _")),
  /** Version of the package `cni:delegate` that the delegate is compiled against. */
  abi: dotted,
  /** The delegate's own version. */
  version: line(64),
  about: line(256),
  cniVersions: z.array(dotted).check(z.minLength(1), z.maxLength(32)),
  /** Why each capability is wanted. */
  capabilities: z.record(z.string(), line(256)),
});

export type Declaration = z.infer<typeof declarationSchema>;

export const declarationSection = "plexus:delegate";
const longest = 16 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the declaration among a component's custom sections. Refuses none, two, or one that breaks a rule. */
export function readDeclaration(
  customs: readonly { readonly name: string; readonly content: Uint8Array; readonly at: number }[],
): Declaration {
  const [found, second] = customs.filter(({ name }) => name === declarationSection);
  if (found === undefined) refuse(`no custom section "${declarationSection}": the delegate does not declare itself`);
  if (second !== undefined) refuse(`a second custom section "${declarationSection}"`, second.at);
  if (found.content.length > longest) refuse(`a declaration of ${found.content.length} bytes (at most ${longest})`, found.at);
  const parsed = declarationSchema.safeParse(json(found.content, found.at));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `, field ${issue.path.join(".").slice(0, 80)}`;
  return refuse(`the declaration${where}: ${(issue?.message ?? "malformed").slice(0, 200)}`, found.at);
}

/** Refuses a capability that the ABI doesn't know, naming those that it knows (E-8). */
export function requireKnown(names: readonly string[], known: readonly string[], what: string): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = closest(name, known);
    const hint = meant === undefined ? "" : `; "${meant}" was probably meant`;
    refuse(
      `${what} the capability ${JSON.stringify(name.slice(0, 64))}, which does not exist (valid: ${known.join(", ")})${hint}`,
    );
  }
}

function json(content: Uint8Array, at: number): unknown {
  try {
    return JSON.parse(utf8.decode(content));
  } catch {
    return refuse("the declaration is not JSON", at);
  }
}
