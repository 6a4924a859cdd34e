// Manifests and configurations of components.

import { describe, expect, test } from "vitest";
import { bundleLayer, componentLayer, componentManifest, indexText, readIndex, readReferrers, readManifest } from "./manifest.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;
const config = { mediaType: "application/vnd.wasm.config.v0+json", digest: other, size: 10 };
const layer = { mediaType: "application/wasm", digest, size: 100 };
const manifest = JSON.parse(componentManifest(config, layer));

function bundleOf(layers: readonly object[]) {
  const read = readManifest(JSON.stringify({ ...manifest, layers }));
  return read.ok ? bundleLayer(read.value) : read;
}

describe("a manifest", () => {
  test("of a component has its layer; its bytes depend on its content only", () => {
    const text = componentManifest(config, layer, { "org.opencontainers.image.version": "1" });
    const read = readManifest(text);
    expect(read).toMatchObject({
      ok: true,
      value: { config, layers: [layer], annotations: { "org.opencontainers.image.version": "1" } },
    });
    expect(read.ok && componentLayer(read.value, 100)).toEqual({ ok: true, value: layer });
    expect(componentManifest({ ...config }, { ...layer }, { "org.opencontainers.image.version": "1" })).toBe(text);
  });

  test.each<[unknown, string]>([
    ["no", "must be a JSON object"],
    [{ ...manifest, schemaVersion: 1 }, "schemaVersion"],
    [{ ...manifest, mediaType: "application/vnd.docker.distribution.manifest.v2+json" }, "mediaType"],
    [{ ...manifest, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [] }, "image index"],
    [{ ...manifest, config: undefined }, "config must be a descriptor"],
    [{ ...manifest, layers: {} }, "layers must be a list"],
    [{ ...manifest, layers: Array.from({ length: 257 }, () => layer) }, "at most 256"],
    [{ ...manifest, layers: [{ ...layer, digest: "sha256:../../etc/passwd" }] }, "layers.0.digest"],
    [{ ...manifest, layers: [{ ...layer, size: -1 }] }, "layers.0.size"],
    [{ ...manifest, layers: [{ ...layer, size: 1.5 }] }, "layers.0.size"],
    [{ ...manifest, layers: [{ ...layer, size: "100" }] }, "layers.0.size"],
    [{ ...manifest, subject: { digest: "x" } }, "subject.mediaType"],
  ])("%j is refused: %s", (value, why) => {
    expect(readManifest(JSON.stringify(value))).toMatchObject({
      ok: false,
      fault: { kind: "ARTIFACT_INVALID", msg: expect.stringContaining(why) },
    });
  });

  test.each<[object, string]>([
    [{ layers: [] }, "0 layers"],
    [{ layers: [layer, layer] }, "2 layers"],
    [{ layers: [{ ...layer, mediaType: "application/octet-stream" }] }, "not a component"],
    [{ config: { ...config, mediaType: "application/vnd.oci.image.config.v1+json" } }, "not a component"],
    [{ layers: [{ ...layer, size: 101 }] }, "101 bytes (at most 100)"],
    [{ config: { ...config, size: 2 ** 30 } }, "configuration has"],
  ])("with %j is no component: %s", (change, why) => {
    const read = readManifest(JSON.stringify({ ...manifest, ...change }));
    expect(read.ok && componentLayer(read.value, 100)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining(why) } });
  });

  test("of a signature has one bundle of bounded size", () => {
    const bundle = { mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", digest, size: 1000 };
    expect(bundleOf([bundle])).toEqual({ ok: true, value: bundle });
    for (const layers of [[], [bundle, bundle], [layer], [{ ...bundle, size: 1 << 20 }]]) expect(bundleOf(layers).ok).toBe(false);
  });

  test("an index keeps artifact types and annotations of its descriptors", () => {
    const descriptor = { ...layer, artifactType: "x/y", annotations: { a: "b" } };
    expect(readIndex(indexText([descriptor]))).toEqual({ ok: true, value: [descriptor] });
    expect(readIndex("{}").ok).toBe(false);
    expect(readReferrers("{}").ok).toBe(false);
    // Anybody may add a referrer with a digest that Plexus does not know.
    expect(readReferrers(indexText([{ ...layer, digest: `sha512:${"0".repeat(128)}` }, layer]))).toEqual({
      ok: true,
      value: [layer],
    });
    expect(readIndex(indexText([{ ...layer, digest: "md5:0" }])).ok).toBe(false);
  });
});
