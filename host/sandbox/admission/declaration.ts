// Reads a delegate's declaration: the custom section `plexus:delegate`, as JSON.

import { closest } from "../../../src/configuration/closest.ts";
import { ObjectReader } from "../../../src/configuration/object-reader.ts";
import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { refuse } from "../../../wit/binary/refusal.ts";

/** A delegate's declaration. */
export interface Declaration {
  readonly name: string;
  /** Version of the package `cni:delegate` that the delegate is compiled against. */
  readonly abi: string;
  /** The delegate's own version. */
  readonly version: string;
  readonly about: string;
  readonly cniVersions: readonly string[];
  /** The reason for each capability, by the capability's name. */
  readonly capabilities: Readonly<Record<string, string>>;
  /** The capabilities without which the delegate works, too. Absent: none. */
  readonly optional?: readonly string[];
}

const delegateName = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const dotted = /^(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})$/;
const shortLine = /^[^\p{C}\u2028\u2029]{1,64}$/u;
const line = /^[^\p{C}\u2028\u2029]{1,256}$/u;
const maxVersions = 32;

/** Name of the custom section. */
export const declarationSection = "plexus:delegate";
const maxBytes = 16 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the declaration among a component's custom sections. Refuses a missing, a second and an invalid declaration. */
export function readDeclaration(
  customs: readonly { readonly name: string; readonly content: Uint8Array; readonly at: number }[],
): Declaration {
  const [found, second] = customs.filter(({ name }) => name === declarationSection);
  if (found === undefined) refuse(`no custom section "${declarationSection}": the delegate does not declare itself`);
  if (second !== undefined) refuse(`a second custom section "${declarationSection}"`, second.at);
  if (found.content.length > maxBytes) refuse(`a declaration of ${found.content.length} bytes (at most ${maxBytes})`, found.at);
  return checkDeclaration(json(found.content, found.at), found.at);
}

/** Checks a declaration's JSON value. Refuses a field that is missing, unknown or not as it must be; `at` is the byte offset of the section. */
export function checkDeclaration(value: unknown, at?: number): Declaration {
  if (!isJsonObject(value)) refuse(`the declaration must be a JSON object, but is ${describeJson(value)}`, at);
  const reader = new ObjectReader(value);
  const declaration = readFields(reader);
  const [problem] = reader.problems;
  if (problem !== undefined) refuse(`the declaration, field ${problem.slice(0, 300)}`, at);
  return declaration;
}

function readFields(reader: ObjectReader): Declaration {
  const oneLine = "one line without control characters, of at most";
  reader.require("name", "abi", "version", "about", "cniVersions", "capabilities");
  const cniVersions = reader.strings("cniVersions") ?? [];
  if (cniVersions.length < 1 || cniVersions.length > maxVersions || !cniVersions.every((text) => dotted.test(text))) {
    reader.refuse("cniVersions", `must be 1 to ${maxVersions} versions such as 1.0.0`);
  }
  const wanted = reader.object("capabilities");
  const capabilities = (wanted?.keys() ?? []).map((key) => [key, wanted?.matching(key, line, `${oneLine} 256`) ?? ""] as const);
  const optional = reader.strings("optional") ?? [];
  const undeclared = optional.find((name) => !Object.hasOwn(Object.fromEntries(capabilities), name));
  if (undeclared !== undefined)
    reader.refuse("optional", `has ${JSON.stringify(undeclared.slice(0, 64))}, which "capabilities" does not have`);
  const declaration = {
    name: reader.matching("name", delegateName, "1 to 63 of a-z, 0-9, - and _") ?? "",
    abi: reader.matching("abi", dotted, "a version such as 1.0.0") ?? "",
    version: reader.matching("version", shortLine, `${oneLine} 64`) ?? "",
    about: reader.matching("about", line, `${oneLine} 256`) ?? "",
    cniVersions,
    capabilities: Object.fromEntries(capabilities),
    ...(optional.length === 0 ? {} : { optional }),
  };
  reader.end();
  return declaration;
}

/** Refuses a capability that the ABI does not have; the refusal names the valid ones (E-8). */
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
