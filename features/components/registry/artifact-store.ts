// A place of artifacts: a registry's repository, or a directory with an OCI image layout. Content is verified against its digest here.

import { createHash } from "node:crypto";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Descriptor } from "../../../src/oci/manifest.ts";

/** A manifest or an index as stored. */
export interface StoredManifest {
  /** The exact text; its UTF-8 bytes have the digest. */
  readonly text: string;
  readonly digest: string;
  readonly mediaType: string;
}

/** Reads and writes artifacts. Methods do not throw. */
export interface ArtifactStore {
  /**
   * The manifest under a tag or a digest. Faults: ARTIFACT_NOT_FOUND, COMPONENT_DIGEST_DIFFERS, ARTIFACT_INVALID, and those of the place:
   * REGISTRY_UNREACHABLE, REGISTRY_UNAUTHORIZED, REGISTRY_REFUSED, STORE_FAILED.
   */
  readonly manifest: (name: string) => Promise<Result<StoredManifest>>;
  /** The content of a descriptor, of exactly its size and digest. Faults as `manifest`. */
  readonly blob: (descriptor: Descriptor) => Promise<Result<Uint8Array>>;
  /** The manifests whose subject is the manifest with this digest. Faults as `manifest`. */
  readonly referrers: (digest: string) => Promise<Result<readonly Descriptor[]>>;
  /** Stores content under its digest, unless the place has it. Faults of the place. */
  readonly putBlob: (bytes: Uint8Array) => Promise<Result<void>>;
  /** Stores a manifest under its digest and, if given, a tag. A manifest with a subject becomes a referrer of that. Faults of the place. */
  readonly putManifest: (manifest: StoredManifest, tag: string | undefined) => Promise<Result<void>>;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The digest of content. */
export function digestOf(content: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** The descriptor of content. */
export function descriptorOf(mediaType: string, content: Uint8Array | string): Descriptor {
  return { mediaType, digest: digestOf(content), size: Buffer.byteLength(content) };
}

/** The content if it has the size and the digest of the descriptor. Fault COMPONENT_DIGEST_DIFFERS. */
export function verifiedBlob(content: Uint8Array, { digest, size }: Descriptor, where: string): Result<Uint8Array> {
  if (content.length !== size)
    return failed(fault("ARTIFACT_INVALID", `${where}: ${digest} has ${content.length} bytes, but its manifest says ${size}`));
  const found = digestOf(content);
  return found === digest ? ok(content) : failed(digestFault(where, digest, found));
}

/** The manifest with these bytes. `wanted`: the digest that it must have. Faults COMPONENT_DIGEST_DIFFERS, ARTIFACT_INVALID. */
export function verifiedManifest(
  content: Uint8Array,
  mediaType: string,
  wanted: string | undefined,
  where: string,
): Result<StoredManifest> {
  const digest = digestOf(content);
  if (wanted !== undefined && digest !== wanted) return failed(digestFault(where, wanted, digest));
  try {
    return ok({ text: utf8.decode(content), digest, mediaType });
  } catch {
    return failed(fault("ARTIFACT_INVALID", `${where}: the manifest ${digest} is not UTF-8`));
  }
}

function digestFault(where: string, wanted: string, found: string) {
  return fault("COMPONENT_DIGEST_DIFFERS", `${where}: the content for ${wanted} has the digest ${found}`);
}
