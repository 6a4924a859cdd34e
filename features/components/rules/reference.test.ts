// References to artifacts.

import { describe, expect, test } from "vitest";
import { readReference, referenceText, wantedName } from "./reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("a reference", () => {
  test.each([
    ["ghcr.io/plexus/tuning:1.0", { kind: "registry", host: "ghcr.io", repository: "plexus/tuning" }, "1.0", undefined],
    [`ghcr.io/a/b@${digest}`, { kind: "registry", host: "ghcr.io", repository: "a/b" }, undefined, digest],
    [`localhost:5000/a/b:v1@${digest}`, { kind: "registry", host: "localhost:5000", repository: "a/b" }, "v1", digest],
    ["localhost/a", { kind: "registry", host: "localhost", repository: "a" }, undefined, undefined],
    ["[::1]:5000/a_b/c--d:x", { kind: "registry", host: "[::1]:5000", repository: "a_b/c--d" }, "x", undefined],
    ["oci-layout:/mnt/usb:1", { kind: "layout", directory: "/mnt/usb" }, "1", undefined],
    [`oci-layout:layout@${digest}`, { kind: "layout", directory: "layout" }, undefined, digest],
    ["oci-layout:/mnt/a:b/c", { kind: "layout", directory: "/mnt/a:b/c" }, undefined, undefined],
  ])("%s names place, tag and digest, and is printed as it was", (text, place, tag, pinned) => {
    const reference = readReference(text);
    expect(reference).toEqual({ ok: true, value: { place, tag, digest: pinned } });
    expect(reference.ok && referenceText(reference.value)).toBe(text);
  });

  test.each([
    ["tuning:1", "a registry must be named"],
    ["plexus/tuning:1", "not a registry's host name"],
    ["https://ghcr.io/a/b", "not a registry's host name"],
    ["ghcr.io/A/b", "not a repository's name"],
    ["ghcr.io/a/../b", "not a repository's name"],
    ["ghcr.io/a/b:", "not a tag"],
    ["ghcr.io/a/b:a/b", "not a tag"],
    ["ghcr.io/a/b@sha256:abc", "after @ must follow"],
    [`ghcr.io/a/b@sha512:${"a".repeat(128)}`, "after @ must follow"],
    ["user:password@ghcr.io/a/b", "after @ must follow"],
    ["oci-layout:", "names no directory"],
    ["", "a registry must be named"],
    [`ghcr.io/${"a".repeat(1024)}`, "longer than"],
  ])("%s is refused: %s", (text, why) => {
    expect(readReference(text)).toMatchObject({
      ok: false,
      fault: { kind: "REFERENCE_INVALID", msg: expect.stringContaining(why) },
    });
  });

  test("the digest decides, then the tag, then latest", () => {
    const place = { kind: "layout", directory: "/" } as const;
    expect(wantedName({ place, tag: "1", digest })).toBe(digest);
    expect(wantedName({ place, tag: "1", digest: undefined })).toBe("1");
    expect(wantedName({ place, tag: undefined, digest: undefined })).toBe("latest");
  });
});
