// A directory in the form of an OCI image layout as a store of artifacts: what `plexusctl component save` writes, for nodes without a registry.

import { constants, mkdirSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { isDigest } from "../../../src/oci/digest.ts";
import { type Descriptor, indexText, maxManifestBytes, readIndex, readManifest } from "../../../src/oci/manifest.ts";
import { manifestType } from "../../../src/oci/media-types.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import {
  type ArtifactStore,
  descriptorOf,
  digestOf,
  type StoredManifest,
  verifiedBlob,
  verifiedManifest,
} from "./artifact-store.ts";

const tagKey = "org.opencontainers.image.ref.name";
const layoutVersion = JSON.stringify({ imageLayoutVersion: "1.0.0" });

/** Opens the layout in a directory. The first write makes a missing directory. */
export function layoutStore(location: string): ArtifactStore {
  return new LayoutStore(resolve(location));
}

class LayoutStore implements ArtifactStore {
  readonly #directory: string;
  readonly #blobs: string;
  readonly #versionPath: string;
  readonly #indexPath: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#blobs = join(directory, "blobs", "sha256");
    this.#versionPath = join(directory, "oci-layout");
    this.#indexPath = join(directory, "index.json");
  }

  async manifest(name: string): Promise<Result<StoredManifest>> {
    const index = await this.#index();
    if (!index.ok) return index;
    const found = index.value.find(({ digest, annotations }) => digest === name || annotations?.[tagKey] === name);
    if (found === undefined && !isDigest(name))
      return failed(fault("ARTIFACT_NOT_FOUND", `${this.#directory} does not have the tag ${name}`));
    return this.#manifestOf(found?.digest ?? name, found?.mediaType ?? manifestType);
  }

  async blob(descriptor: Descriptor): Promise<Result<Uint8Array>> {
    const bytes = await this.#content(descriptor.digest, descriptor.size);
    return bytes.ok ? verifiedBlob(bytes.value, descriptor, this.#directory) : bytes;
  }

  async referrers(subject: string): Promise<Result<readonly Descriptor[]>> {
    const index = await this.#index();
    if (!index.ok) return index;
    const found: Descriptor[] = [];
    // A manifest with several tags has several descriptors.
    const manifests = new Map(index.value.map((each) => [each.digest, each]));
    for (const each of [...manifests.values()].filter(({ mediaType }) => mediaType === manifestType)) {
      const text = await this.#manifestOf(each.digest, each.mediaType);
      const manifest = text.ok ? readManifest(text.value.text) : text;
      // A layout may have artifacts of other tools, in forms that Plexus does not read, and broken entries.
      if (!manifest.ok) {
        if (manifest.fault.kind === "STORE_FAILED") return manifest;
        continue;
      }
      const { artifactType, annotations } = manifest.value;
      if (manifest.value.subject?.digest === subject) found.push({ ...each, artifactType, annotations });
    }
    return ok(found);
  }

  async putBlob(bytes: Uint8Array): Promise<Result<void>> {
    return replace(this.#blobPath(digestOf(bytes)), bytes, this.#blobs);
  }

  async putManifest({ text, digest, mediaType }: StoredManifest, tag: string | undefined): Promise<Result<void>> {
    const put = await replace(this.#blobPath(digest), text, this.#blobs);
    const version = put.ok ? await replace(this.#versionPath, layoutVersion, this.#directory) : put;
    const index = version.ok ? await this.#index() : version;
    if (!index.ok) return index;
    return replace(this.#indexPath, indexText(withManifest(index.value, descriptorOf(mediaType, text), tag)), this.#directory);
  }

  /** The descriptors of `index.json`, none if it does not exist. Faults STORE_FAILED, ARTIFACT_INVALID, ARTIFACT_NOT_FOUND. */
  async #index(): Promise<Result<readonly Descriptor[]>> {
    const version = await readBounded(this.#versionPath, maxManifestBytes);
    if (!version.ok) return version;
    if (version.value === undefined)
      return failed(fault("ARTIFACT_NOT_FOUND", `${this.#directory} is no OCI image layout: it has no file oci-layout`));
    if (!isVersion1(version.value)) return failed(fault("ARTIFACT_INVALID", `${this.#versionPath} is not of version 1.0.0`));
    const text = await readBounded(this.#indexPath, maxManifestBytes);
    if (!text.ok) return text;
    return text.value === undefined ? ok([]) : readIndex(text.value.toString("utf8"));
  }

  async #manifestOf(digest: string, mediaType: string): Promise<Result<StoredManifest>> {
    const bytes = await this.#content(digest, maxManifestBytes);
    return bytes.ok ? verifiedManifest(bytes.value, mediaType, digest, this.#directory) : bytes;
  }

  async #content(digest: string, maxBytes: number): Promise<Result<Buffer>> {
    const read = await readBounded(this.#blobPath(digest), maxBytes);
    if (!read.ok) return read;
    return read.value === undefined
      ? failed(fault("ARTIFACT_NOT_FOUND", `${this.#directory} does not have ${digest}`))
      : ok(read.value);
  }

  #blobPath(digest: string): string {
    return join(this.#blobs, digest.slice("sha256:".length));
  }
}

/**
 * The index with a manifest under one more tag, if any. A manifest has a descriptor for each of its tags, or one without a tag: a manifest that
 * loses its last tag can still be found by its digest.
 */
function withManifest(index: readonly Descriptor[], added: Descriptor, tag: string | undefined): readonly Descriptor[] {
  const tagOf = ({ annotations }: Descriptor): string | undefined => annotations?.[tagKey];
  const isAdded = ({ digest }: Descriptor): boolean => digest === added.digest;
  if (tag === undefined) return index.some(isAdded) ? index : [...index, added];
  const others = index.flatMap((each) => {
    if (isAdded(each)) return tagOf(each) === undefined || tagOf(each) === tag ? [] : [each];
    if (tagOf(each) !== tag) return [each];
    const isOnly = index.filter(({ digest }) => digest === each.digest).length === 1;
    return isOnly ? [withoutTag(each)] : [];
  });
  const present = index.find((each) => isAdded(each) && [undefined, tag].includes(tagOf(each)));
  return [...others, { ...added, annotations: { ...present?.annotations, [tagKey]: tag } }];
}

function withoutTag({ annotations = {}, ...descriptor }: Descriptor): Descriptor {
  const { [tagKey]: _, ...others } = annotations;
  return Object.keys(others).length === 0 ? descriptor : { ...descriptor, annotations: others };
}

/** The content of a regular file of at most `maxBytes`; undefined if it does not exist. Faults STORE_FAILED, ARTIFACT_INVALID. */
async function readBounded(path: string, maxBytes: number): Promise<Result<Buffer | undefined>> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await file.stat();
    if (!stats.isFile()) return failed(fault("ARTIFACT_INVALID", `${path} is not a regular file`));
    if (stats.size > maxBytes) return failed(fault("ARTIFACT_INVALID", `${path} has ${stats.size} bytes (at most ${maxBytes})`));
    const content = Buffer.alloc(stats.size);
    const { bytesRead } = await file.read(content, 0, stats.size, 0);
    return ok(content.subarray(0, bytesRead));
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("reading", path, error));
  } finally {
    await file?.close();
  }
}

/** Replaces a file by a temporary file and a rename. Fault STORE_FAILED. */
async function replace(path: string, content: Uint8Array | string, directory: string): Promise<Result<void>> {
  const temporary = `${path}.new`;
  try {
    mkdirSync(directory, { recursive: true });
    await rm(temporary, { force: true });
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("writing", path, error));
  }
}

function isVersion1(content: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    return isJsonObject(value) && value["imageLayoutVersion"] === "1.0.0";
  } catch {
    return false;
  }
}
