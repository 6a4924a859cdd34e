import { expect, test } from "vitest";
import { mayMakeLink, wouldMoveForeign } from "./link-identity.ts";

test.each([
  [["loopback"], false],
  [["tuning", "portmap"], false],
  [["bridge", "tuning"], true],
  [["of-a-vendor"], true],
])("plugins %j may make a link: %s", (types, expected) => {
  expect(mayMakeLink(types.map((type) => ({ type })))).toBe(expected);
});

test.each([
  [["host-device"], "veth", true],
  [["sriov", "tuning"], "dummy", true],
  [["host-device"], "", false],
  [["host-device"], undefined, false],
  [["bridge"], "veth", false],
] as const)("the DEL of %j with a link of kind %j that has the name would move a foreign link: %s", (types, kind, expected) => {
  const plugins = types.map((type) => ({ type }));
  expect(wouldMoveForeign(plugins, kind === undefined ? undefined : { kind })).toBe(expected);
});
