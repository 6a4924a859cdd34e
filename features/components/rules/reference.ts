// References to artifacts: `HOST[:PORT]/REPOSITORY[:TAG][@DIGEST]` in a registry, `oci-layout:DIRECTORY[:TAG][@DIGEST]` in a directory.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { digestPattern, digestWanted } from "../../../src/oci/digest.ts";

/** The place of artifacts: a repository of a registry, or a directory in the form of an OCI image layout. */
export type ArtifactPlace =
  | { readonly kind: "registry"; readonly host: string; readonly repository: string }
  | { readonly kind: "layout"; readonly directory: string };

/** A reference to one artifact. Tag and digest may both be given: the digest decides then. */
export interface ArtifactReference {
  readonly place: ArtifactPlace;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const layoutPrefix = "oci-layout:";
const maxLength = 1024;
/** A DNS name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const hostPattern = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,252}[a-zA-Z0-9])?|\[[0-9a-fA-F:.]{2,45}\])(?::\d{1,5})?$/;
/** OCI distribution, "Pulling manifests". */
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** Reads a reference. Fault REFERENCE_INVALID. */
export function readReference(text: string): Result<ArtifactReference> {
  if (text.length > maxLength) return refused(text, `longer than ${maxLength} characters`);
  const at = text.indexOf("@");
  const digest = at === -1 ? undefined : text.slice(at + 1);
  if (digest !== undefined && !digestPattern.test(digest)) return refused(text, `after @ must follow ${digestWanted}`);
  const named = at === -1 ? text : text.slice(0, at);
  return named.startsWith(layoutPrefix) ? layoutReference(text, named, digest) : registryReference(text, named, digest);
}

function layoutReference(text: string, named: string, digest: string | undefined): Result<ArtifactReference> {
  const path = named.slice(layoutPrefix.length);
  const colon = path.lastIndexOf(":");
  const hasTag = colon > path.lastIndexOf("/");
  const [directory, tag] = hasTag ? [path.slice(0, colon), path.slice(colon + 1)] : [path, undefined];
  if (directory === "" || directory.includes("\0")) return refused(text, "oci-layout: names no directory");
  if (tag !== undefined && !tagPattern.test(tag)) return refused(text, `${quote(tag, 64)} is not a tag`);
  return ok({ place: { kind: "layout", directory }, tag, digest });
}

function registryReference(text: string, named: string, digest: string | undefined): Result<ArtifactReference> {
  const slash = named.indexOf("/");
  if (slash === -1) return refused(text, "a registry must be named: HOST/REPOSITORY:TAG");
  const host = named.slice(0, slash);
  const colon = named.indexOf(":", slash);
  const [repository, tag] =
    colon === -1 ? [named.slice(slash + 1), undefined] : [named.slice(slash + 1, colon), named.slice(colon + 1)];
  // As all OCI clients: a first part without a dot, a port or the name localhost is not a registry.
  if (!hostPattern.test(host) || !(/[.:[]/.test(host) || host === "localhost"))
    return refused(text, `${quote(host, 64)} is not a registry's host name; write HOST/REPOSITORY:TAG`);
  if (!repositoryPattern.test(repository)) return refused(text, `${quote(repository, 64)} is not a repository's name`);
  if (tag !== undefined && !tagPattern.test(tag)) return refused(text, `${quote(tag, 64)} is not a tag`);
  return ok({ place: { kind: "registry", host, repository }, tag, digest });
}

/** The reference as text; `readReference` reads it. */
export function referenceText({ place, tag, digest }: ArtifactReference): string {
  const named = place.kind === "layout" ? `${layoutPrefix}${place.directory}` : `${place.host}/${place.repository}`;
  return `${named}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}

/** The tag or digest under which a registry knows the artifact; the tag `latest` if the reference has neither. */
export function wantedName({ tag, digest }: ArtifactReference): string {
  return digest ?? tag ?? "latest";
}

function refused(text: string, why: string): Result<never> {
  return failed(fault("REFERENCE_INVALID", `${quote(text, 200)} is not a reference to a component: ${why}`));
}
