// Fetches a component from a registry or a layout: its manifest, its bytes, and the bundles that sign the manifest. Every content has the
// digest that leads to it; whether a bundle is valid is checked by others.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { bundleLayer, componentLayer, type Descriptor, type Manifest, readManifest } from "../../../src/oci/manifest.ts";
import { isBundleType } from "../../../src/oci/media-types.ts";
import { type ArtifactReference, wantedName } from "../rules/reference.ts";
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

/** The bundles among a manifest's referrers. */
export interface FoundBundles {
  readonly bundles: readonly FoundBundle[];
  /** Why a referrer that may be a signature is not among them; undefined if all are. */
  readonly problem: Fault | undefined;
}

/** Maximum number of referrers that are looked at: who may write to a repository may give a component any number of them. */
const maxCandidates = 64;
/** Faults of one referrer. All others are the registry's. */
const ofOneReferrer: readonly FaultKind[] = ["ARTIFACT_NOT_FOUND", "ARTIFACT_INVALID", "COMPONENT_DIGEST_DIFFERS"];

/** The bundles among the manifest's referrers. Faults of `ArtifactStore`. Referrers of other forms are skipped, and so are broken ones. */
export async function fetchBundles({ store, manifest }: FoundArtifact): Promise<Result<FoundBundles>> {
  const referrers = await store.referrers(manifest.digest);
  if (!referrers.ok) return referrers;
  const typed = referrers.value.filter(({ artifactType }) => artifactType !== undefined && isBundleType(artifactType));
  // Some tools' fallback index lacks the artifact type.
  const candidates = [...typed, ...referrers.value.filter(({ artifactType }) => artifactType === undefined)];
  const bundles: FoundBundle[] = [];
  let problem: Fault | undefined;
  for (const each of candidates.slice(0, maxCandidates)) {
    const bundle = await fetchBundle(store, each, manifest.digest);
    if (bundle.ok && bundle.value !== undefined) bundles.push(bundle.value);
    if (bundle.ok) continue;
    if (!ofOneReferrer.includes(bundle.fault.kind)) return bundle;
    problem ??= bundle.fault;
  }
  if (candidates.length > maxCandidates)
    problem ??= fault("ARTIFACT_INVALID", `${manifest.digest} has more than ${maxCandidates} referrers that may be signatures`);
  return ok({ bundles, problem });
}

/** The bundle of a referrer; undefined if it is none of this subject. */
async function fetchBundle(
  store: ArtifactStore,
  { digest }: Descriptor,
  subject: string,
): Promise<Result<FoundBundle | undefined>> {
  const stored = await store.manifest(digest);
  if (!stored.ok) return stored;
  const read = readManifest(stored.value.text);
  const layer = read.ok ? bundleLayer(read.value) : read;
  if (!read.ok || !layer.ok || read.value.subject?.digest !== subject) return ok(undefined);
  const bytes = await store.blob(layer.value);
  if (!bytes.ok) return bytes;
  return ok({ manifest: stored.value, layer: layer.value, text: Buffer.from(bytes.value).toString("utf8") });
}
