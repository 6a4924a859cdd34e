// The sentences of `plexusctl status` about definitions and components.

import { expect, test } from "vitest";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { NotedConfigurations } from "./noted-configurations.ts";

function textOf(wanted: "definitions" | "components", configurations: readonly object[]): string | undefined {
  const noted = new NotedConfigurations();
  for (const more of configurations) {
    const read = readHostConfiguration({ name: "cluster", type: "plexus", delegates: [{ type: "bridge" }], ...more });
    if (!read.ok) throw new Error(read.fault.msg);
    noted.note(read.value);
  }
  return noted.sentences.find(({ name }) => name === wanted)?.sentence();
}

test.each([
  [[], "no call has come yet"],
  [[{}], "cluster: definitions of kube-system are trusted, all others are bound by 0 rules"],
  [[{ profile: "multus" }], "cluster: every definition may run every plugin as root (profile multus)"],
  [[{ definitions: { trusted: ["*"] } }], "cluster: every definition may run every plugin as root (definitions.trusted has *)"],
  [
    [{ definitions: { trusted: [], rules: [{ namespaces: ["a"] }] } }, { name: "other" }],
    "cluster: definitions of no namespace are trusted, all others are bound by 1 rules; other: definitions of kube-system are trusted, all others are bound by 0 rules",
  ],
  [[{ profile: "multus" }, {}], "cluster: definitions of kube-system are trusted, all others are bound by 0 rules"],
])("The definitions of the configurations %j are described", (configurations, text) => {
  expect(textOf("definitions", configurations)).toBe(text);
});

const pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n";
const digests = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);

test.each([
  [{}, "any component may run"],
  [{ enabled: false }, "no component may run (wasm.enabled is false)"],
  [{ keys: { a: pem }, grants: { x: { signedBy: "a" } } }, "any component may run, except types with their own demands: x"],
  [{ keys: { a: pem }, require: { signedBy: ["a"] } }, "every component must have a signature by a"],
  [
    {
      keys: { a: pem, b: pem },
      require: { signedBy: ["a", "b"], digests },
      grants: { x: { require: false }, y: { signedBy: "b" } },
    },
    "every component must have a signature by one of a, b, or one of 2 digests (their own demands: y; exempt: x)",
  ],
  [{ require: { digests: digests.slice(1) } }, "every component must have the digest listed"],
])("The demands on components of %j are described", (wasm, text) => {
  expect(textOf("components", [{ wasm }])).toBe(`cluster: ${text}`);
});
