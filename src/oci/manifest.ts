// Image manifests and indexes of the OCI image specification, as far as components and their signatures need them.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { digestWanted, isDigest } from "./digest.ts";
import { bundleType, indexType, isBundleType, manifestType, wasmConfigType, wasmLayerType } from "./media-types.ts";

/** Maximum size of a manifest or an index, in bytes (OCI distribution: registries accept 4 MiB). */
export const maxManifestBytes = 4 * 1024 * 1024;
/** Maximum size of a component's configuration, in bytes. */
const maxConfigBytes = 1024 * 1024;
/** Maximum size of a signature's bundle, in bytes. */
const maxBundleBytes = 256 * 1024;
const maxEntries = 256;

/** A reference to content by digest. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An image manifest. */
export interface Manifest {
  readonly artifactType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly subject: Descriptor | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The text of the empty configuration. */
export const emptyConfig = "{}";
/** The digest of the empty configuration (OCI image specification). */
export const emptyConfigDigest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

/** Reads a manifest's text. Fault ARTIFACT_INVALID. */
export function readManifest(text: string): Result<Manifest> {
  const value = objectOf(text, "manifest");
  if (!value.ok) return value;
  const { mediaType = manifestType, schemaVersion, config, layers, subject } = value.value;
  if (mediaType === indexType || Array.isArray(value.value["manifests"]))
    return invalid("the manifest is an image index; a component has an image manifest. Name the manifest's digest");
  if (mediaType !== manifestType) return invalid(`the manifest's mediaType is ${shown(mediaType)}, not ${manifestType}`);
  if (schemaVersion !== 2) return invalid(`the manifest's schemaVersion is ${shown(schemaVersion)}, not 2`);
  const readConfig = descriptor(config, "config");
  if (!readConfig.ok) return readConfig;
  if (!Array.isArray(layers) || layers.length > maxEntries)
    return invalid(`the manifest's layers must be a list of at most ${maxEntries}`);
  const readLayers = all(layers.map((each, index) => descriptor(each, `layers.${index}`)));
  if (!readLayers.ok) return readLayers;
  const readSubject = subject === undefined || subject === null ? ok(undefined) : descriptor(subject, "subject");
  if (!readSubject.ok) return readSubject;
  const { artifactType } = value.value;
  return ok({
    artifactType: typeof artifactType === "string" ? artifactType : readConfig.value.mediaType,
    config: readConfig.value,
    layers: readLayers.value,
    subject: readSubject.value,
    annotations: annotationsOf(value.value["annotations"]),
  });
}

/** Reads an index's descriptors. Its text's size bounds their number. Fault ARTIFACT_INVALID. */
export function readIndex(text: string): Result<readonly Descriptor[]> {
  const manifests = entriesOf(text);
  return manifests.ok ? all(manifests.value.map((each, index) => descriptor(each, `manifests.${index}`))) : manifests;
}

/** Reads an index of referrers, which anybody may have added: those that Plexus cannot read are left out. Fault ARTIFACT_INVALID. */
export function readReferrers(text: string): Result<readonly Descriptor[]> {
  const manifests = entriesOf(text);
  if (!manifests.ok) return manifests;
  const read = manifests.value.map((each, index) => descriptor(each, `manifests.${index}`));
  return ok(read.flatMap((each) => (each.ok ? [each.value] : [])));
}

function entriesOf(text: string): Result<readonly unknown[]> {
  const value = objectOf(text, "index");
  if (!value.ok) return value;
  const { manifests } = value.value;
  return Array.isArray(manifests) ? ok(manifests) : invalid("the index has no list of manifests");
}

/** An index with these descriptors. */
export function indexText(manifests: readonly Descriptor[]): string {
  return JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
}

/** The layer with the component. Fault ARTIFACT_INVALID: the artifact is not a component, or larger than `maxBytes`. */
export function componentLayer({ config, layers }: Manifest, maxBytes: number): Result<Descriptor> {
  const [layer, second] = layers;
  if (config.mediaType !== wasmConfigType)
    return invalid(`the artifact is not a component: its configuration is ${shown(config.mediaType)}, not ${wasmConfigType}`);
  if (layer === undefined || second !== undefined)
    return invalid(`the artifact has ${layers.length} layers; a component has one`);
  if (layer.mediaType !== wasmLayerType)
    return invalid(`the artifact is not a component: its layer is ${shown(layer.mediaType)}, not ${wasmLayerType}`);
  if (layer.size > maxBytes) return invalid(`the component has ${layer.size} bytes (at most ${maxBytes})`);
  if (config.size > maxConfigBytes) return invalid(`the configuration has ${config.size} bytes (at most ${maxConfigBytes})`);
  return ok(layer);
}

/** The layer with the Sigstore bundle of a signature's manifest. Fault ARTIFACT_INVALID. */
export function bundleLayer({ layers }: Manifest): Result<Descriptor> {
  const [layer, second] = layers;
  if (layer === undefined || second !== undefined) return invalid(`the signature has ${layers.length} layers, not one`);
  if (!isBundleType(layer.mediaType)) return invalid(`the signature's layer is ${shown(layer.mediaType)}, not ${bundleType}`);
  if (layer.size > maxBundleBytes) return invalid(`the signature has ${layer.size} bytes (at most ${maxBundleBytes})`);
  return ok(layer);
}

/** The manifest of a component. Equal arguments give equal bytes. */
export function componentManifest(
  config: Descriptor,
  layer: Descriptor,
  annotations: Readonly<Record<string, string>> = {},
): string {
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config,
    layers: [layer],
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  });
}

function objectOf(text: string, what: string): Result<Readonly<Record<string, unknown>>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(`the ${what} is not JSON`);
  }
  return isJsonObject(value) ? ok(value) : invalid(`the ${what} must be a JSON object, but is ${describeJson(value)}`);
}

function descriptor(value: unknown, where: string): Result<Descriptor> {
  if (!isJsonObject(value)) return invalid(`${where} must be a descriptor, but is ${describeJson(value)}`);
  const { mediaType, digest, size, artifactType, annotations } = value;
  if (typeof mediaType !== "string" || mediaType === "") return invalid(`${where}.mediaType is missing`);
  if (!isDigest(digest)) return invalid(`${where}.digest must be ${digestWanted}, but is ${shown(digest)}`);
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
    return invalid(`${where}.size must be a number of bytes, but is ${shown(size)}`);
  return ok({
    mediaType,
    digest,
    size,
    ...(typeof artifactType === "string" ? { artifactType } : {}),
    ...(annotations === undefined ? {} : { annotations: annotationsOf(annotations) }),
  });
}

function annotationsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((each): each is [string, string] => typeof each[1] === "string"));
}

function all<T>(results: readonly Result<T>[]): Result<readonly T[]> {
  const values: T[] = [];
  for (const each of results) {
    if (!each.ok) return each;
    values.push(each.value);
  }
  return ok(values);
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 100) : describeJson(value);
}

function invalid(why: string): Result<never> {
  return failed(fault("ARTIFACT_INVALID", why));
}
