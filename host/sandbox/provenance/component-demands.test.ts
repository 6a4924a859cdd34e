// The demands of wasm.grants on a component's digest and signer, and when they are checked again.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "../../../src/fault/result.ts";
import { componentManifest } from "../../../src/oci/manifest.ts";
import { wasmConfigType, wasmLayerType } from "../../../src/oci/media-types.ts";
import type { SignedManifest } from "../../../src/oci/signatures-file.ts";
import { sha256 } from "../../../test/lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../../test/lab/registry/cosign-bundle.ts";
import { ComponentDemands, demandOn } from "./component-demands.ts";

const bytes = Buffer.from("a component");
const digest = sha256(bytes);
const key = makeSigningKey();
const keys = { release: key.pem };

/** A manifest of `content` and its signature by the key. */
function signedManifest(content = bytes, by = key): SignedManifest {
  const config = { mediaType: wasmConfigType, digest: sha256("{}"), size: 2 };
  const manifest = componentManifest(config, { mediaType: wasmLayerType, digest: sha256(content), size: content.length });
  return { manifest, bundles: [dsseBundle(by, signStatement(sha256(manifest)))] };
}

function component(manifests: readonly SignedManifest[] = []) {
  return { name: "content", bytes, signatures: async () => ok(manifests) };
}

describe("the demands on a component", () => {
  test("are those of its type; names of Object's members demand nothing", () => {
    const wasm = { demands: { tuning: { digest } }, require: undefined, exempt: [] };
    expect(demandOn(wasm, "tuning")).toEqual({ digest });
    expect(demandOn(wasm, "other")).toBeUndefined();
    expect(demandOn(wasm, "constructor")).toBeUndefined();
  });

  test("of wasm.require hold for every type without demands of its own that is not exempt", () => {
    const require = { anyOf: { signedBy: ["release"], digests: [] } };
    const wasm = { demands: { tuning: { digest } }, require, exempt: ["portmap"] };
    expect(demandOn(wasm, "tuning")).toEqual({ digest });
    expect(demandOn(wasm, "portmap")).toBeUndefined();
    for (const type of ["other", "constructor"]) expect(demandOn(wasm, type)).toBe(require);
  });

  test.each<[string, { readonly signedBy?: readonly string[]; readonly digests?: readonly string[] }, boolean]>([
    ["a listed digest", { digests: [sha256("x"), digest] }, true],
    ["a listed digest, and a key that is no key", { digests: [digest], signedBy: ["broken"] }, true],
    ["a signature by the first key", { signedBy: ["release", "other"] }, true],
    ["a signature by the last key", { signedBy: ["absent", "broken", "other", "release"] }, true],
    ["another digest", { digests: [sha256("x")] }, false],
    ["no signature by any key", { signedBy: ["other"], digests: [sha256("x")] }, false],
    ["a key that wasm.keys lacks", { signedBy: ["absent"] }, false],
    ["a key that is no key", { signedBy: ["broken"] }, false],
    ["nothing to have, after a mistake in the configuration", {}, false],
  ])("of wasm.require, with %s", async (_, { signedBy = [], digests = [] }, isMet) => {
    const all = { keys: { ...keys, other: makeSigningKey().pem, broken: "no key" } };
    const demands = new ComponentDemands();
    const demand = { anyOf: { signedBy, digests } };
    const check = await demands.check(component([signedManifest()]), demand, all);
    expect(check.ok ? "met" : check.fault.kind).toBe(isMet ? "met" : "COMPONENT_REQUIREMENT_UNMET");
    expect(demands.isMet("content", demand, all)).toBe(isMet);
    // Another requirement, and the same lists in a grant, are other demands.
    expect(demands.isMet("content", { anyOf: { signedBy, digests: [...digests, sha256("y")] } }, all)).toBe(false);
    const replaced = { keys: { ...all.keys, release: makeSigningKey().pem } };
    expect(demands.isMet("content", demand, replaced)).toBe(isMet && !signedBy.includes("release"));
  });

  test("a digest is that of the bytes", async () => {
    const demands = new ComponentDemands();
    expect(await demands.check(component(), { digest }, { keys })).toEqual(ok(undefined));
    const differs = await demands.check(component(), { digest: sha256("other") }, { keys });
    expect(differs).toMatchObject({
      ok: false,
      fault: { kind: "COMPONENT_DIGEST_DIFFERS", msg: expect.stringContaining(digest) },
    });
  });

  test("a malformed digest, which a DEL keeps in spite of the mistake, is met by no component", async () => {
    const check = await new ComponentDemands().check(component(), { digest: "" }, { keys });
    expect(check).toMatchObject({ ok: false, fault: { kind: "COMPONENT_DIGEST_DIFFERS" } });
  });

  test.each<[string, () => readonly SignedManifest[], string]>([
    ["without a signature", () => [], "SIGNATURE_MISSING"],
    ["with the signature of another component", () => [signedManifest(Buffer.from("other"))], "SIGNATURE_MISSING"],
    ["with a signature of another key", () => [signedManifest(bytes, makeSigningKey())], "SIGNATURE_INVALID"],
    [
      "with a manifest whose signature is of another manifest",
      () => [{ ...signedManifest(), bundles: signedManifest(Buffer.from("x")).bundles }],
      "SIGNATURE_INVALID",
    ],
  ])("a component %s is refused", async (_, manifests, kind) => {
    const check = await new ComponentDemands().check(component(manifests()), { signedBy: "release" }, { keys });
    expect(check).toMatchObject({ ok: false, fault: { kind } });
  });

  test("a signature among others is found", async () => {
    const manifests = [
      signedManifest(Buffer.from("other")),
      { ...signedManifest(), bundles: ["no", ...signedManifest().bundles] },
    ];
    expect(await new ComponentDemands().check(component(manifests), { signedBy: "release", digest }, { keys })).toEqual(
      ok(undefined),
    );
  });

  test("a key that the configuration lacks is named", async () => {
    const check = await new ComponentDemands().check(component([signedManifest()]), { signedBy: "absent" }, { keys });
    expect(check).toMatchObject({
      ok: false,
      fault: { kind: "SIGNATURE_KEY_UNUSABLE", msg: expect.stringContaining('"absent"') },
    });
  });

  test("a success is remembered for this content, demand and key; a refusal is not", async () => {
    const demands = new ComponentDemands();
    const demand = { signedBy: "release" };
    await demands.check(component(), demand, { keys });
    expect(demands.isMet("content", demand, { keys })).toBe(false);
    await demands.check(component([signedManifest()]), demand, { keys });
    expect(demands.isMet("content", demand, { keys })).toBe(true);
    expect(demands.isMet("other content", demand, { keys })).toBe(false);
    expect(demands.isMet("content", { ...demand, digest }, { keys })).toBe(false);
    expect(demands.isMet("content", demand, { keys: { release: makeSigningKey().pem } })).toBe(false);
  });

  describe("with a key in a file", () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "plexus-key-"));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    test("a replaced key counts at once", async () => {
      const demands = new ComponentDemands();
      const path = join(directory, "release.pub");
      writeFileSync(path, key.pem);
      const demand = { signedBy: "release" };
      expect(await demands.check(component([signedManifest()]), demand, { keys: { release: path } })).toEqual(ok(undefined));
      expect(demands.isMet("content", demand, { keys: { release: path } })).toBe(true);
      writeFileSync(path, `${makeSigningKey().pem}\n`);
      expect(demands.isMet("content", demand, { keys: { release: path } })).toBe(false);
      const check = await demands.check(component([signedManifest()]), demand, { keys: { release: path } });
      expect(check).toMatchObject({ ok: false, fault: { kind: "SIGNATURE_INVALID" } });
    });

    test("a missing file is named", async () => {
      const keysOfFile = { release: join(directory, "gone.pub") };
      const check = await new ComponentDemands().check(
        component([signedManifest()]),
        { signedBy: "release" },
        { keys: keysOfFile },
      );
      expect(check).toMatchObject({
        ok: false,
        fault: { kind: "SIGNATURE_KEY_UNUSABLE", msg: expect.stringContaining("gone.pub") },
      });
    });
  });
});
