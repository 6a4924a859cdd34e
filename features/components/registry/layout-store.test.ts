// A directory in the form of an OCI image layout that may come from anybody.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { componentManifest, indexText } from "../../../src/oci/manifest.ts";
import { manifestType, wasmConfigType, wasmLayerType } from "../../../src/oci/media-types.ts";
import { type ArtifactStore, descriptorOf, digestOf } from "./artifact-store.ts";
import { layoutStore } from "./layout-store.ts";

const component = Buffer.from("a component");
const layer = descriptorOf(wasmLayerType, component);
const text = componentManifest(descriptorOf(wasmConfigType, "{}"), layer);
const manifest = { text, digest: digestOf(text), mediaType: manifestType };

describe("an OCI image layout", () => {
  let directory: string;
  let store: ArtifactStore;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-layout-"));
    store = layoutStore(directory);
    await store.putBlob(component);
    await store.putManifest(manifest, "1");
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** The digests in the index, in its order. */
  function indexed(): readonly string[] {
    const { manifests }: { readonly manifests: readonly { readonly digest: string }[] } = JSON.parse(
      readFileSync(join(directory, "index.json"), "utf8"),
    );
    return manifests.map(({ digest }) => digest);
  }

  function blob(digest: string): string {
    return join(directory, "blobs", "sha256", digest.slice("sha256:".length));
  }

  test("gives a manifest by tag and by digest, and contents by descriptor", async () => {
    expect(await store.manifest("1")).toEqual({ ok: true, value: manifest });
    expect(await store.manifest(manifest.digest)).toEqual({ ok: true, value: manifest });
    expect(await store.blob(layer)).toMatchObject({ ok: true });
    expect(await store.manifest("2")).toMatchObject({ ok: false, fault: { kind: "ARTIFACT_NOT_FOUND" } });
  });

  test("moves a tag to another manifest, and keeps the manifest that lost it", async () => {
    const other = { ...manifest, text: `${text} `, digest: digestOf(`${text} `) };
    await store.putManifest(other, "1");
    expect(await store.manifest("1")).toEqual({ ok: true, value: other });
    expect(await store.manifest(manifest.digest)).toEqual({ ok: true, value: manifest });
  });

  test("keeps every tag of a manifest, in every order of writing", async () => {
    const other = { ...manifest, text: `${text} `, digest: digestOf(`${text} `) };
    await store.putManifest(manifest, "latest");
    await store.putManifest(manifest, undefined);
    await store.putManifest(manifest, "1");
    for (const tag of ["1", "latest"]) expect(await store.manifest(tag)).toEqual({ ok: true, value: manifest });
    await store.putManifest(other, "latest");
    expect(await store.manifest("1")).toEqual({ ok: true, value: manifest });
    expect(await store.manifest("latest")).toEqual({ ok: true, value: other });
    expect(await store.manifest(manifest.digest)).toEqual({ ok: true, value: manifest });
  });

  test("has each descriptor once, and a manifest without a tag until it gets one", async () => {
    const other = { ...manifest, text: `${text} `, digest: digestOf(`${text} `) };
    await store.putManifest(other, undefined);
    await store.putManifest(other, undefined);
    expect(indexed()).toEqual([manifest.digest, other.digest]);
    await store.putManifest(other, "2");
    await store.putManifest(other, "2");
    expect(indexed()).toEqual([manifest.digest, other.digest]);
    await store.putManifest(other, "1");
    // The manifest that lost its only tag stays in the index, as OCI's image layout demands of manifests that are entry points.
    expect(indexed()).toEqual([manifest.digest, other.digest, other.digest]);
  });

  test("lists a referrer once, although it has two tags", async () => {
    const signature = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      artifactType: "x/y",
      config: descriptorOf("application/vnd.oci.empty.v1+json", "{}"),
      layers: [],
      subject: descriptorOf(manifestType, text),
    });
    const stored = { text: signature, digest: digestOf(signature), mediaType: manifestType };
    for (const tag of ["a", "b"]) await store.putManifest(stored, tag);
    const referrers = await store.referrers(manifest.digest);
    expect(referrers.ok && referrers.value).toHaveLength(1);
  });

  test("lists the manifests with a subject as its referrers", async () => {
    const signature = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      artifactType: "x/y",
      config: descriptorOf("application/vnd.oci.empty.v1+json", "{}"),
      layers: [],
      subject: descriptorOf(manifestType, text),
      annotations: { a: "b" },
    });
    await store.putManifest({ text: signature, digest: digestOf(signature), mediaType: manifestType }, undefined);
    const referrers = await store.referrers(manifest.digest);
    expect(referrers).toMatchObject({
      ok: true,
      value: [{ digest: digestOf(signature), artifactType: "x/y", annotations: { a: "b" } }],
    });
    expect(await store.referrers(digestOf("other"))).toEqual({ ok: true, value: [] });
  });

  test.each<[string, () => void, string]>([
    ["a changed content", () => writeFileSync(blob(layer.digest), "A component"), "COMPONENT_DIGEST_DIFFERS"],
    ["a longer content", () => writeFileSync(blob(layer.digest), "a component and more"), "ARTIFACT_INVALID"],
    ["a shorter content", () => writeFileSync(blob(layer.digest), "a"), "ARTIFACT_INVALID"],
    ["no content", () => rmSync(blob(layer.digest)), "ARTIFACT_NOT_FOUND"],
    [
      "a link to a file elsewhere",
      () => {
        rmSync(blob(layer.digest));
        symlinkSync("/etc/passwd", blob(layer.digest));
      },
      "STORE_FAILED",
    ],
    [
      "a directory as content",
      () => {
        rmSync(blob(layer.digest));
        mkdirSync(blob(layer.digest));
      },
      "ARTIFACT_INVALID",
    ],
  ])("with %s is refused", async (_, change, kind) => {
    change();
    expect(await store.blob(layer)).toMatchObject({ ok: false, fault: { kind } });
  });

  test.each<[string, () => void, string]>([
    ["a changed manifest", () => writeFileSync(blob(manifest.digest), `${text} `), "COMPONENT_DIGEST_DIFFERS"],
    ["no oci-layout", () => rmSync(join(directory, "oci-layout")), "ARTIFACT_NOT_FOUND"],
    ["another version", () => writeFileSync(join(directory, "oci-layout"), '{"imageLayoutVersion":"2.0.0"}'), "ARTIFACT_INVALID"],
    ["an index that is not JSON", () => writeFileSync(join(directory, "index.json"), "{"), "ARTIFACT_INVALID"],
    [
      "a digest that is a path",
      () =>
        writeFileSync(
          join(directory, "index.json"),
          indexText([{ mediaType: manifestType, digest: "sha256:../../index.json", size: 1 }]),
        ),
      "ARTIFACT_INVALID",
    ],
    [
      "an index of more than 4 MiB",
      () => writeFileSync(join(directory, "index.json"), Buffer.alloc(4 * 1024 * 1024 + 1, " ")),
      "ARTIFACT_INVALID",
    ],
  ])("with %s is refused", async (_, change, kind) => {
    change();
    expect(await store.manifest("1")).toMatchObject({ ok: false, fault: { kind } });
  });
});
