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
import { type ArtifactStore, descriptorOf, digestOf, verifiedBlob, verifiedManifest } from "./artifact-store.ts";

const tagKey = "org.opencontainers.image.ref.name";
const layoutVersion = JSON.stringify({ imageLayoutVersion: "1.0.0" });

/** Opens the layout in a directory. The first write makes a missing directory. */
export function layoutStore(location: string): ArtifactStore {
  const directory = resolve(location);
  const blobPath = (digest: string): string => join(directory, "blobs", "sha256", digest.slice("sha256:".length));
  const indexPath = join(directory, "index.json");

  async function index(): Promise<Result<readonly Descriptor[]>> {
    const version = await readBounded(join(directory, "oci-layout"), maxManifestBytes);
    if (!version.ok) return version;
    if (version.value === undefined) return failed(fault("ARTIFACT_NOT_FOUND", `${directory} is no OCI image layout`));
    if (!isVersion1(version.value)) return failed(fault("ARTIFACT_INVALID", `${directory}/oci-layout is not of version 1.0.0`));
    const text = await readBounded(indexPath, maxManifestBytes);
    if (!text.ok) return text;
    return text.value === undefined ? ok([]) : readIndex(text.value.toString("utf8"));
  }

  async function content(digest: string, maxBytes: number): Promise<Result<Buffer>> {
    const read = await readBounded(blobPath(digest), maxBytes);
    if (!read.ok) return read;
    return read.value === undefined
      ? failed(fault("ARTIFACT_NOT_FOUND", `${directory} does not have ${digest}`))
      : ok(read.value);
  }

  async function manifestOf(digest: string, mediaType: string) {
    const bytes = await content(digest, maxManifestBytes);
    return bytes.ok ? verifiedManifest(bytes.value, mediaType, digest, directory) : bytes;
  }

  return {
    async manifest(name) {
      const listed = await index();
      if (!listed.ok) return listed;
      const found = listed.value.find(({ digest, annotations }) => digest === name || annotations?.[tagKey] === name);
      if (found === undefined && !isDigest(name))
        return failed(fault("ARTIFACT_NOT_FOUND", `${directory} does not have the tag ${name}`));
      return manifestOf(found?.digest ?? name, found?.mediaType ?? manifestType);
    },

    async blob(descriptor) {
      const bytes = await content(descriptor.digest, descriptor.size);
      return bytes.ok ? verifiedBlob(bytes.value, descriptor, directory) : bytes;
    },

    async referrers(subject) {
      const listed = await index();
      if (!listed.ok) return listed;
      const found: Descriptor[] = [];
      // A manifest with several tags has several descriptors.
      const manifests = new Map(listed.value.map((each) => [each.digest, each]));
      for (const each of [...manifests.values()].filter(({ mediaType }) => mediaType === manifestType)) {
        const text = await manifestOf(each.digest, each.mediaType);
        const manifest = text.ok ? readManifest(text.value.text) : text;
        if (!manifest.ok) return manifest;
        const { artifactType, annotations } = manifest.value;
        if (manifest.value.subject?.digest === subject) found.push({ ...each, artifactType, annotations });
      }
      return ok(found);
    },

    async putBlob(bytes) {
      const path = blobPath(digestOf(bytes));
      return replace(path, bytes, join(directory, "blobs", "sha256"));
    },

    async putManifest({ text, digest, mediaType }, tag) {
      const put = await replace(blobPath(digest), text, join(directory, "blobs", "sha256"));
      const version = put.ok ? await replace(join(directory, "oci-layout"), layoutVersion, directory) : put;
      const listed = version.ok ? await index() : version;
      if (!listed.ok) return listed;
      return replace(indexPath, indexText(withManifest(listed.value, descriptorOf(mediaType, text), tag)), directory);
    },
  };
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
