// The list of a node's components, and the lock file.

import { describe, expect, test } from "vitest";
import { readComponentList } from "./component-list.ts";
import { lockText, readLock } from "./lock-file.ts";

const digest = `sha256:${"a".repeat(64)}`;
const pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n";

function read(value: unknown) {
  return readComponentList(JSON.stringify(value), "components.json");
}

describe("the list of components", () => {
  test("names types, references, digests and signers", () => {
    const components = [
      { type: "tuning", reference: `r.test/tuning@${digest}` },
      { type: "macvlan", reference: "r.test/macvlan:1", signedBy: "release" },
      { type: "portmap", reference: "oci-layout:/mnt:1", digest },
    ];
    expect(read({ components, keys: { release: pem, file: "/etc/plexus/key.pub" } })).toMatchObject({
      ok: true,
      value: {
        components: [{ type: "tuning" }, { type: "macvlan", signedBy: "release" }, { type: "portmap", digest }],
        keys: { release: pem },
      },
    });
    expect(read({ components: [] })).toMatchObject({ ok: true, value: { components: [] } });
  });

  test.each<[unknown, string]>([
    [[], "must be an object"],
    [{}, "components: is missing"],
    [{ components: {} }, "components: must be a list"],
    [{ components: [{ type: "a" }] }, "components.0.reference: is missing"],
    [{ components: [{ reference: `r.test/a@${digest}` }] }, "components.0.type: is missing"],
    [{ components: [{ type: "../a", reference: `r.test/a@${digest}` }] }, "components.0.type: must be a plugin type"],
    [{ components: [{ type: ".a", reference: `r.test/a@${digest}` }] }, "components.0.type: must be a plugin type"],
    [{ components: [{ type: "a", reference: "r.test/a:1" }] }, "needs a digest"],
    [{ components: [{ type: "a", reference: "a" }] }, "components.0.reference: "],
    [{ components: [{ type: "a", reference: "r.test/a:1", signedBy: "x" }] }, "components.0.signedBy: keys has no key x"],
    [{ components: [{ type: "a", reference: "r.test/a:1", signedby: "x" }], keys: { x: pem } }, "did you mean signedBy?"],
    [{ components: [], keys: { x: "no key" } }, "keys.x: must be a public key"],
    [{ components: [], keys: { "a b": pem } }, "keys.a b: must be the name of a key"],
    [
      {
        components: [
          { type: "a", reference: `r.test/a@${digest}` },
          { type: "a", reference: `r.test/b@${digest}` },
        ],
      },
      "a is listed twice",
    ],
  ])("%j is refused: %s", (value, why) => {
    expect(read(value)).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID", msg: expect.stringContaining(why) } });
  });
});

describe("the lock file", () => {
  const entry = {
    type: "a",
    file: "/opt/cni/bin/a.wasm",
    digest,
    manifestDigest: digest,
    source: "r.test/a:1",
    signer: "release",
  };

  test("is read as written, ordered by type", () => {
    const unsigned = { ...entry, type: "B", signer: undefined };
    expect(readLock(lockText([entry, unsigned]), "lock")).toEqual({ ok: true, value: [unsigned, entry] });
  });

  test.each<[string, unknown]>([
    ["not JSON", "no"],
    ["another kind", { kind: "List", components: [] }],
    ["no list", { kind: "ComponentLock" }],
    ["a type that is a path", { kind: "ComponentLock", components: [{ ...entry, type: "../../etc/x" }] }],
    ["no digest", { kind: "ComponentLock", components: [{ ...entry, digest: "x" }] }],
  ])("with %s is refused", (_, value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    expect(readLock(text, "lock")).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
  });
});
