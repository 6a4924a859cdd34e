// The configuration of an artifact with a component: CNCF TAG Runtime, "Wasm OCI Artifact layout".

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";

/** The members of the configuration that describe the component. */
export interface DescribedComponent {
  /** RFC 3339. The crate oci-wasm requires the member. */
  readonly created: string;
  readonly layerDigest: string;
  readonly exports: readonly string[];
  readonly imports: readonly string[];
  /** The world that the component implements, for example `cni:delegate/delegate@1.0.0`. */
  readonly target: string;
}

/** The configuration's text. Equal arguments give equal bytes. */
export function wasmConfigText({ created, layerDigest, exports, imports, target }: DescribedComponent): string {
  return JSON.stringify({
    created,
    architecture: "wasm",
    os: "wasip2",
    layerDigests: [layerDigest],
    component: { exports, imports, target },
  });
}

/**
 * Checks the configuration of a component's artifact against its layer. Fault ARTIFACT_INVALID. A tool that knows nothing of components
 * (`oras push --config`) may leave members out, so only what is there must be right.
 */
export function checkWasmConfig(text: string, layerDigest: string): Result<void> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("the configuration is not JSON");
  }
  if (!isJsonObject(value)) return invalid("the configuration must be a JSON object");
  const { architecture, os, layerDigests } = value;
  if (architecture !== undefined && architecture !== "wasm")
    return invalid(`the configuration's architecture is ${shown(architecture)}, not "wasm"`);
  if (os !== undefined && os !== "wasip2")
    return invalid(`the configuration's os is ${shown(os)}, not "wasip2": the artifact is not a component`);
  if (
    layerDigests !== undefined &&
    !(Array.isArray(layerDigests) && layerDigests.length === 1 && layerDigests[0] === layerDigest)
  )
    return invalid("the configuration's layerDigests do not name the manifest's layer");
  return ok(undefined);
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : JSON.stringify(value);
}

function invalid(why: string): Result<never> {
  return failed(fault("ARTIFACT_INVALID", why));
}
