// The provider of a definition's ports, from the definition's annotations: Plexus' own, or Kuryr's (kuryr-kubernetes, npwg_multiple_interfaces).

import { describeJson, isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { externalPortAnnotation, kuryrConfigAnnotation } from "./annotations.ts";
import { quote } from "../../../src/json/quote.ts";

/** The provider of definitions with Kuryr's annotation. */
const kuryrProvider = "neutron";

/** The provider that a definition names. */
export interface DefinitionProvider {
  readonly provider: string;
  /** The parameters for the provider. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The outcome: `none` for a definition without an external port. */
export type ProviderReading =
  | { readonly kind: "provider"; readonly value: DefinitionProvider }
  | { readonly kind: "none" }
  | { readonly kind: "invalid"; readonly problem: string };

/** Maximum length of an annotation with parameters. */
const maxLength = 8_192;
const providerName = /^[a-z][a-z0-9-]{0,30}$/;

/** Reads the annotations. Plexus' own comes first. `invalid` names the annotation and the mistake. */
export function definitionProvider(annotations: ReadonlyMap<string, string>): ProviderReading {
  const own = annotations.get(externalPortAnnotation);
  if (own !== undefined) return readOwn(own);
  const kuryr = annotations.get(kuryrConfigAnnotation);
  return kuryr === undefined ? { kind: "none" } : readKuryr(kuryr);
}

function readOwn(text: string): ProviderReading {
  const members = readMembers(externalPortAnnotation, text);
  if (typeof members === "string") return invalid(members);
  const { provider, ...parameters } = members;
  if (typeof provider !== "string" || !providerName.test(provider)) {
    const shown = typeof provider === "string" ? quote(provider, 60) : describeJson(provider);
    return invalid(
      `annotation ${externalPortAnnotation}: provider ${shown} must be a name of lower-case letters, digits and "-"`,
    );
  }
  return { kind: "provider", value: { provider, parameters } };
}

/** Both keys are optional (KU-07 to KU-09): without a subnet, the provider takes the one of its configuration. */
function readKuryr(text: string): ProviderReading {
  const members = readMembers(kuryrConfigAnnotation, text);
  if (typeof members === "string") return invalid(members);
  for (const key of ["subnetId", "driverType"]) {
    const value = Object.hasOwn(members, key) ? members[key] : undefined;
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      return invalid(`annotation ${kuryrConfigAnnotation}: ${key} must be a text, but is ${describeJson(value)}`);
    }
  }
  return { kind: "provider", value: { provider: kuryrProvider, parameters: members } };
}

function readMembers(annotation: string, text: string): Readonly<Record<string, unknown>> | string {
  if (text.length > maxLength) return `annotation ${annotation} has ${text.length} characters; the maximum is ${maxLength}`;
  const document = parseDocument(text, { what: `annotation ${annotation}`, maxLength, maxDepth: 8 });
  if (!document.ok) return document.fault.msg;
  return isJsonObject(document.value.parsed) ? document.value.parsed : `annotation ${annotation} is no object`;
}

function invalid(problem: string): ProviderReading {
  return { kind: "invalid", problem };
}
