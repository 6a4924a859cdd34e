// The file TYPE.wasm.signatures.json beside a component: manifests that name the component's digest, each with the bundles that sign it.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { isJsonObject } from "../json/document.ts";

/** Suffix of the file's name, after the component's. The shim reads files with this suffix (host/shim/plugin-path.c). */
export const signaturesSuffix = ".signatures.json";
/** Maximum size of the file, in bytes. */
export const maxSignaturesBytes = 4 * 1024 * 1024;
/** Maximum bundles of one manifest. */
export const maxBundles = 16;

/** A manifest and the bundles that its registry had for it. Nothing in it is verified. */
export interface SignedManifest {
  /** The manifest's exact text, whose digest the bundles sign. */
  readonly manifest: string;
  /** Texts of Sigstore bundles. */
  readonly bundles: readonly string[];
}

const apiVersion = "plexus/v1";
const kind = "ComponentSignatures";

/** The file's content. */
export function signaturesText(manifests: readonly SignedManifest[]): string {
  return `${JSON.stringify({ apiVersion, kind, manifests }, undefined, 2)}\n`;
}

/** Reads the file. Fault SIGNATURE_INVALID. */
export function readSignatures(text: string): Result<readonly SignedManifest[]> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("is not JSON");
  }
  if (!isJsonObject(value) || value["kind"] !== kind || value["apiVersion"] !== apiVersion)
    return invalid(`is no ${kind} of ${apiVersion}`);
  const { manifests } = value;
  if (!Array.isArray(manifests)) return invalid("has no list of manifests");
  const read: SignedManifest[] = [];
  for (const each of manifests) {
    const { manifest, bundles }: { manifest?: unknown; bundles?: unknown } = isJsonObject(each) ? each : {};
    if (typeof manifest !== "string" || !Array.isArray(bundles) || !bundles.every((bundle) => typeof bundle === "string"))
      return invalid("has an entry without manifest and bundles");
    read.push({ manifest, bundles: bundles.slice(0, maxBundles) });
  }
  return ok(read);
}

function invalid(why: string): Result<never> {
  return failed(fault("SIGNATURE_INVALID", `the file of signatures ${why}`));
}
