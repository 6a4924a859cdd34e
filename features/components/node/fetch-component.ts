// Fetches a component from a registry or a layout: its manifest, its bytes, and the bundles that sign the manifest. Every content has the
// digest that leads to it; whether a bundle is valid is checked by others.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { bundleLayer, componentLayer, type Descriptor, type Manifest, readManifest } from "../../../src/oci/manifest.ts";
import { isBundleType } from "../../../src/oci/media-types.ts";
import { type ArtifactReference, wantedName } from "../rules/reference.ts";
import { maxBundles } from "../../../src/oci/signatures-file.ts";
import { checkWasmConfig } from "../rules/wasm-config.ts";
import type { ArtifactStore, StoredManifest } from "../registry/artifact-store.ts";
import type { ArtifactStores } from "../registry/open-store.ts";
import { artifactLimits } from "../../../host/sandbox/limits.ts";

/** A component's manifest in a store. */
export interface FoundArtifact {
  readonly store: ArtifactStore;
  readonly manifest: StoredManifest;
  readonly read: Manifest;
  /** The descriptor of the component's bytes. */
  readonly layer: Descriptor;
}

/** A referrer with a bundle: its manifest and the bundle's text. */
export interface FoundBundle {
  readonly manifest: StoredManifest;
  readonly layer: Descriptor;
  readonly text: string;
}

/** Finds the artifact of a reference. Faults of `ArtifactStore.manifest`; ARTIFACT_INVALID if it is no component. */
export async function findArtifact(stores: ArtifactStores, reference: ArtifactReference): Promise<Result<FoundArtifact>> {
  const store = stores.open(reference.place);
  if (!store.ok) return store;
  const manifest = await store.value.manifest(wantedName(reference));
  if (!manifest.ok) return manifest;
  const read = readManifest(manifest.value.text);
  const layer = read.ok ? componentLayer(read.value, artifactLimits.componentBytes) : read;
  if (!read.ok) return read;
  if (!layer.ok) return layer;
  return ok({ store: store.value, manifest: manifest.value, read: read.value, layer: layer.value });
}

/** The component's bytes. Faults of `ArtifactStore.blob`; ARTIFACT_INVALID. */
export async function fetchBytes({ store, read, layer }: FoundArtifact): Promise<Result<Uint8Array>> {
  const config = await store.blob(read.config);
  if (!config.ok) return config;
  const checked = checkWasmConfig(Buffer.from(config.value).toString("utf8"), layer.digest);
  return checked.ok ? store.blob(layer) : checked;
}

/** The bundles among the manifest's referrers, at most `maxBundles`. Faults of `ArtifactStore`. Referrers of other forms are skipped. */
export async function fetchBundles({ store, manifest }: FoundArtifact): Promise<Result<readonly FoundBundle[]>> {
  const referrers = await store.referrers(manifest.digest);
  if (!referrers.ok) return referrers;
  const bundles: FoundBundle[] = [];
  // Some tools' fallback index lacks the artifact type.
  for (const each of referrers.value.filter(({ artifactType }) => artifactType === undefined || isBundleType(artifactType))) {
    if (bundles.length === maxBundles)
      return failed(fault("ARTIFACT_INVALID", `${manifest.digest} has more than ${maxBundles} signatures`));
    const stored = await store.manifest(each.digest);
    if (!stored.ok) return stored;
    const read = readManifest(stored.value.text);
    const layer = read.ok ? bundleLayer(read.value) : read;
    if (!read.ok || !layer.ok || read.value.subject?.digest !== manifest.digest) continue;
    const bytes = await store.blob(layer.value);
    if (!bytes.ok) return bytes;
    bundles.push({ manifest: stored.value, layer: layer.value, text: Buffer.from(bytes.value).toString("utf8") });
  }
  return ok(bundles);
}
