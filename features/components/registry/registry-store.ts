// A registry's repository as a store of artifacts (OCI distribution specification 1.1).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isDigest, referrersTag } from "../../../src/oci/digest.ts";
import {
  type Descriptor,
  indexText,
  maxManifestBytes,
  readIndex,
  readManifest,
  readReferrers,
} from "../../../src/oci/manifest.ts";
import { indexType, manifestType } from "../../../src/oci/media-types.ts";
import {
  type ArtifactStore,
  descriptorOf,
  digestOf,
  type StoredManifest,
  verifiedBlob,
  verifiedManifest,
} from "./artifact-store.ts";
import type { ExchangeAnswer } from "./http-exchange.ts";
import type { RegistrySession } from "./registry-session.ts";

/** Maximum bytes of an answer that has no content of interest. */
const maxAnswerBytes = 64 * 1024;
const maxReferrerPages = 8;

/** Opens the repository of a session. Nothing is sent yet. */
export function registryStore(session: RegistrySession): ArtifactStore {
  const store: ArtifactStore = {
    manifest: (name) => getManifest(session, name),

    async blob(descriptor) {
      const { digest, size } = descriptor;
      const answer = await session.send({ method: "GET", path: `blobs/${digest}`, maxBytes: size });
      if (!answer.ok) return answer;
      if (answer.value.status !== 200) return failed(absentOrRefused(session, answer.value, digest));
      return verifiedBlob(answer.value.body, descriptor, session.name);
    },

    async referrers(digest) {
      const listed = await listReferrers(session, digest);
      if (!listed.ok || listed.value !== undefined) return listed.ok ? ok(listed.value ?? []) : listed;
      const index = await getManifest(session, referrersTag(digest));
      if (!index.ok) return index.fault.kind === "ARTIFACT_NOT_FOUND" ? ok([]) : index;
      return readReferrers(index.value.text);
    },

    async putBlob(bytes) {
      const digest = digestOf(bytes);
      const head = await session.send({ method: "HEAD", path: `blobs/${digest}`, maxBytes: maxAnswerBytes });
      if (!head.ok) return head;
      if (head.value.status === 200) return ok(undefined);
      const started = await session.send({ method: "POST", path: "blobs/uploads/", body: "", maxBytes: maxAnswerBytes });
      if (!started.ok) return started;
      const { location } = started.value.headers;
      if (started.value.status !== 202 || location === undefined) return failed(session.refusal(started.value));
      const base = session.url("blobs/uploads/");
      if (!URL.canParse(location, base)) return failed(session.refusal(started.value));
      const upload = new URL(location, base);
      upload.searchParams.set("digest", digest);
      const headers = { "Content-Type": "application/octet-stream" };
      const put = await session.send({ method: "PUT", path: upload, headers, body: bytes, maxBytes: maxAnswerBytes });
      if (!put.ok) return put;
      return put.value.status === 201 ? ok(undefined) : failed(session.refusal(put.value));
    },

    async putManifest(manifest, tag) {
      const put = await putText(session, manifest, tag ?? manifest.digest);
      if (!put.ok) return put;
      const read = manifest.mediaType === manifestType ? readManifest(manifest.text) : undefined;
      if (read === undefined || !read.ok || read.value.subject === undefined) return ok(undefined);
      // A registry with the referrers API says that it has taken note of the subject.
      if (put.value.headers["oci-subject"] !== undefined) return ok(undefined);
      const { artifactType, annotations } = read.value;
      const descriptor = { ...descriptorOf(manifestType, manifest.text), artifactType, annotations };
      return addToReferrersTag(session, read.value.subject.digest, descriptor);
    },
  };
  return store;
}

async function getManifest(session: RegistrySession, name: string): Promise<Result<StoredManifest>> {
  const headers = { Accept: `${manifestType}, ${indexType}` };
  const answer = await session.send({ method: "GET", path: `manifests/${name}`, headers, maxBytes: maxManifestBytes });
  if (!answer.ok) return answer;
  if (answer.value.status !== 200) return failed(absentOrRefused(session, answer.value, name));
  const mediaType = mediaTypeOf(answer.value) ?? manifestType;
  return verifiedManifest(answer.value.body, mediaType, isDigest(name) ? name : undefined, `${session.name}@${name}`);
}

/** The referrers by the API; undefined if the registry does not have it. */
async function listReferrers(session: RegistrySession, digest: string): Promise<Result<readonly Descriptor[] | undefined>> {
  const found: Descriptor[] = [];
  let path: string | URL = `referrers/${digest}`;
  for (let page = 0; page < maxReferrerPages; page++) {
    const answer = await session.send({ method: "GET", path, headers: { Accept: indexType }, maxBytes: maxManifestBytes });
    if (!answer.ok) return answer;
    if (answer.value.status !== 200 || mediaTypeOf(answer.value) !== indexType) return ok(undefined);
    const index = readReferrers(answer.value.body.toString("utf8"));
    if (!index.ok) return index;
    found.push(...index.value);
    const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(String(answer.value.headers["link"] ?? ""))?.[1];
    if (next === undefined) return ok(found);
    const base = session.url(`referrers/${digest}`);
    if (!URL.canParse(next, base)) return failed(session.refusal(answer.value));
    path = new URL(next, base);
  }
  return ok(found);
}

/** Adds a descriptor to the index that stands for the referrers API. Two pushes at the same time may lose one: the API has no condition. */
async function addToReferrersTag(session: RegistrySession, subject: string, descriptor: Descriptor): Promise<Result<void>> {
  const existing = await getManifest(session, referrersTag(subject));
  if (!existing.ok && existing.fault.kind !== "ARTIFACT_NOT_FOUND") return existing;
  const listed = existing.ok ? readIndex(existing.value.text) : ok([]);
  if (!listed.ok) return listed;
  if (listed.value.some(({ digest }) => digest === descriptor.digest)) return ok(undefined);
  const text = indexText([...listed.value, descriptor]);
  const put = await putText(session, { text, digest: digestOf(text), mediaType: indexType }, referrersTag(subject));
  return put.ok ? ok(undefined) : put;
}

async function putText(
  session: RegistrySession,
  { text, mediaType }: StoredManifest,
  name: string,
): Promise<Result<ExchangeAnswer>> {
  const headers = { "Content-Type": mediaType };
  const put = await session.send({ method: "PUT", path: `manifests/${name}`, headers, body: text, maxBytes: maxAnswerBytes });
  if (!put.ok) return put;
  return put.value.status === 201 ? put : failed(session.refusal(put.value));
}

function absentOrRefused(session: RegistrySession, answer: ExchangeAnswer, name: string) {
  return answer.status === 404
    ? fault("ARTIFACT_NOT_FOUND", `${session.name}: the registry does not have ${name}`)
    : session.refusal(answer);
}

/** The media type without parameters. */
function mediaTypeOf({ headers }: ExchangeAnswer): string | undefined {
  return headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}
