import { describe, expect, test } from "vitest";
import { capabilitiesOf } from "./abi.ts";
import { parseDeclaration } from "./declaration.ts";

const validDeclaration = {
  name: "my-delegate",
  abi: "1.0.0",
  version: "1.2.3",
  about: "Does a thing.",
  cniVersions: ["1.0.0", "1.1.0"],
  capabilities: { log: "Says what it does." },
};

const parse = (change: object): unknown => parseDeclaration(JSON.stringify({ ...validDeclaration, ...change }), capabilitiesOf);

test("a declaration is read as it is written", () => {
  expect(parse({})).toEqual(validDeclaration);
});

describe("an error names the mistake", () => {
  test("an optional capability that the declaration lacks", () => {
    expect(() => parse({ optional: ["leases"] })).toThrow(/optional: "leases" is not in capabilities/);
    expect(parse({ optional: ["log"] })).toMatchObject({ optional: ["log"] });
  });

  test("E-8: an unknown capability, with the known ones", () => {
    expect(() => parse({ capabilities: { lease: "x", log: "y", disk: "z" } })).toThrow(
      /capabilities: "lease", "disk" unknown; cni:delegate@1\.0\.0 has announce, delegation, firewall, leases, links, log, ovs, resolver, state, sysctl/,
    );
  });

  test.each(Object.keys(validDeclaration))("the missing member %s, with what to add", (key) => {
    expect(() => parse({ [key]: undefined })).toThrow(new RegExp(`^delegate\\.json: ${key} is missing: add "${key}": `));
  });

  test("several missing members, each with what to add", () => {
    expect(() => parseDeclaration("{}", capabilitiesOf, ["1.0.0", "1.1.0"])).toThrow(
      /name is missing: .*; abi is missing: add "abi": "1\.1\.0"; /,
    );
  });

  const table: [what: string, change: object, message: RegExp][] = [
    ["an unknown key", { capability: {} }, /Unrecognized key: "capability"/],
    ["a name with a slash", { name: "a/b" }, /name: must be 1 to 63/],
    ["an empty name", { name: "" }, /name: /],
    ["a member of the wrong type", { about: 5 }, /about: must be a string, but is a number/],
    ["null for a member", { version: null }, /version: must be a string, but is null/],
    ["a list for an object", { capabilities: ["log"] }, /capabilities: must be an object, but is an array/],
    ["a reason that is no text", { capabilities: { log: true } }, /capabilities\.log: must be a string, but is a boolean/],
    ["a mistyped key, with the nearest one", { capability: {} }, /did you mean capabilities\?/],
    ["an unknown ABI", { abi: "9.9.9" }, /abi: cni:delegate@9\.9\.9 does not exist/],
    ["an ABI that is a path", { abi: "../1.0.0" }, /abi: .* does not exist/],
    ["an invalid version", { version: "one" }, /version: must be a semantic version/],
    ["no CNI version", { cniVersions: [] }, /cniVersions: /],
    ["an invalid CNI version", { cniVersions: ["1.0"] }, /cniVersions\.0: must be a CNI version/],
    ["a capability without a reason", { capabilities: { log: "" } }, /capabilities\.log: /],
    ["text with a control character", { about: "a\u001b[31m" }, /about: must be one line/],
  ];
  test.each(table)("%s", (_what, change, message) => {
    expect(() => parse(change)).toThrow(message);
  });

  test("text that is not JSON", () => {
    expect(() => parseDeclaration("{", capabilitiesOf)).toThrow(/delegate\.json is not JSON/);
  });
});
