// Pushes a component's file as an artifact, and copies artifacts with their signatures between registries and layouts.

import { readFileSync } from "node:fs";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { componentManifest, emptyConfig, emptyConfigDigest } from "../../../src/oci/manifest.ts";
import { manifestType, wasmConfigType, wasmLayerType } from "../../../src/oci/media-types.ts";
import type { ArtifactReference } from "../rules/reference.ts";
import { wasmConfigText } from "../rules/wasm-config.ts";
import { descriptorOf, digestOf } from "../registry/artifact-store.ts";
import type { ArtifactStores } from "../registry/open-store.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { artifactLimits } from "../../../host/sandbox/limits.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { fetchBundles, fetchBytes, findArtifact } from "./fetch-component.ts";

/** An artifact that is now at its destination. */
export interface PushedArtifact {
  readonly manifestDigest: string;
  /** Digest of the component's bytes. */
  readonly digest: string;
  /** Signatures that were copied with it. */
  readonly signatures: number;
}

/**
 * Pushes the component in a file. Pushing the same file again gives the same digests. Faults: those of admission (the component must be a
 * delegate), of the destination, STORE_FAILED.
 */
export async function pushComponent(
  stores: ArtifactStores,
  file: string,
  destination: ArtifactReference,
): Promise<Result<PushedArtifact>> {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return failed(storeFault("reading", file, error));
  }
  const digest = digestOf(bytes);
  const examined = new Admission().examine(bytes, artifactLimits, digest);
  if (!examined.ok) return failed({ ...examined.fault, msg: `${file}: ${examined.fault.msg}` });
  const { declaration, imports } = examined.value;
  const { name, version, about, abi } = declaration;
  const target = `cni:delegate/delegate@${abi}`;
  const config = wasmConfigText({
    created: createdAt(),
    layerDigest: digest,
    exports: [`cni:delegate/plugin@${abi}`],
    imports: imports.toSorted(),
    target,
  });
  const text = componentManifest(descriptorOf(wasmConfigType, config), descriptorOf(wasmLayerType, bytes), {
    "org.opencontainers.image.title": name,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.description": about,
  });
  const store = stores.open(destination.place);
  if (!store.ok) return store;
  for (const content of [bytes, Buffer.from(config)]) {
    const put = await store.value.putBlob(content);
    if (!put.ok) return put;
  }
  const manifest = { text, digest: digestOf(text), mediaType: manifestType };
  const put = await store.value.putManifest(manifest, destination.tag);
  return put.ok ? ok({ manifestDigest: manifest.digest, digest, signatures: 0 }) : put;
}

/** Copies a component and its signatures. The destination gets its own tag, or the digest only. Faults of both places. */
export async function copyComponent(
  stores: ArtifactStores,
  source: ArtifactReference,
  destination: ArtifactReference,
): Promise<Result<PushedArtifact>> {
  const found = await findArtifact(stores, source);
  if (!found.ok) return found;
  const { manifest, read, layer, store: from } = found.value;
  const bytes = await fetchBytes(found.value);
  if (!bytes.ok) return bytes;
  const config = await from.blob(read.config);
  if (!config.ok) return config;
  const fetched = await fetchBundles(found.value);
  if (!fetched.ok) return fetched;
  const { bundles, problem } = fetched.value;
  // A copy without all signatures would look like a whole one.
  if (problem !== undefined) return failed(problem);
  const to = stores.open(destination.place);
  if (!to.ok) return to;
  for (const content of [bytes.value, config.value]) {
    const put = await to.value.putBlob(content);
    if (!put.ok) return put;
  }
  const put = await to.value.putManifest(manifest, destination.tag);
  if (!put.ok) return put;
  for (const { manifest: signature, text } of bundles) {
    const empty = signature.text.includes(emptyConfigDigest) ? await to.value.putBlob(Buffer.from(emptyConfig)) : ok(undefined);
    const blob = empty.ok ? await to.value.putBlob(Buffer.from(text)) : empty;
    const stored = blob.ok ? await to.value.putManifest(signature, undefined) : blob;
    if (!stored.ok) return stored;
  }
  return ok({ manifestDigest: manifest.digest, digest: layer.digest, signatures: bundles.length });
}

/** The epoch, or SOURCE_DATE_EPOCH: equal components get equal digests. */
function createdAt(): string {
  const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? 0);
  return new Date(Number.isSafeInteger(seconds) ? seconds * 1000 : 0).toISOString().replace(".000Z", "Z");
}
