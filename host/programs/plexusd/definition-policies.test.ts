// The sentence of `plexusctl status` about definitions.

import { expect, test } from "vitest";
import { readHostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { DefinitionPolicies } from "./definition-policies.ts";

function textOf(...configurations: readonly object[]): string {
  const policies = new DefinitionPolicies();
  for (const more of configurations) {
    const read = readHostConfiguration({ name: "cluster", type: "plexus", delegates: [{ type: "bridge" }], ...more });
    if (!read.ok) throw new Error(read.fault.msg);
    policies.note(read.value);
  }
  return policies.text();
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
])("The configurations %j are described", (configurations, text) => {
  expect(textOf(...configurations)).toBe(text);
});
