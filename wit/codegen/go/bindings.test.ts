import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WitModel } from "../../model.ts";
import { delegateWorld } from "../guest/delegate-bindings.ts";
import { contractPath, modelPath, releasesIn, witDirectory } from "../releases.ts";
import { goBindings } from "./bindings.ts";
import { goName, goParameter } from "./names.ts";

const modelOf = (version: string): WitModel => JSON.parse(readFileSync(join(witDirectory, modelPath(version)), "utf8"));
const filesOf = (version: string): ReadonlyMap<string, string> =>
  goBindings(modelOf(version), delegateWorld, readFileSync(join(witDirectory, contractPath(version)), "utf8"));

test.each(releasesIn(witDirectory))("cni:delegate@%s has a package for each capability", (version) => {
  const files = filesOf(version);
  const capabilities = modelOf(version).worlds[delegateWorld]?.imports.filter((name) => name !== "types") ?? [];
  expect(capabilities.length).toBeGreaterThan(5);
  const expected = capabilities.flatMap((name) => [`${name}/${name}.go`, `${name}/host_wasip1.go`, `${name}/host_other.go`]);
  expect([...files.keys()].toSorted()).toEqual([...expected, "types.go", "exports_wasip1.go"].toSorted());
});

test("a function has its types, its host function and its documentation", () => {
  const files = filesOf("1.1.0");
  const leases = files.get("leases/leases.go") ?? "";
  expect(leases).toContain(
    "// Reserve: Reserves exactly this address, atomically. False: the address is taken (by any owner, the caller included).\n",
  );
  expect(leases).toContain("func Reserve(pool Pool, address string, owner plexus.AttachmentID) (value bool, err error) {\n");
  expect(files.get("leases/host_wasip1.go")).toContain("//go:wasmimport cni:delegate/leases@1.1.0 reserve-next\n");
  expect(files.get("types.go")).toContain("\tAdd(request AttachmentRequest) (Success, error)\n");
  expect(files.get("links/links.go")).toContain("type OperationEnsureBridge struct { Value Bridge }\n");
});

test("a type that the bindings do not support is refused by name", () => {
  const model: WitModel = {
    package: "a:b",
    version: "1.0.0",
    interfaces: {
      types: { types: {}, functions: {} },
      other: { types: {}, functions: { f: { params: [["c", "char"]], result: null } } },
    },
    worlds: { w: { imports: ["other"], exports: [] } },
  };
  expect(() => goBindings(model, "w", "")).toThrow('the bindings for Go do not support "char"');
  expect(() => goBindings(model, "v", "")).toThrow("the model has no world v");
});

test("names are Go's", () => {
  expect(["container-id", "ip-config", "prev-result", "mac"].map(goName)).toEqual([
    "ContainerID",
    "IPConfig",
    "PrevResult",
    "MAC",
  ]);
  const packages = new Set(["links"]);
  expect(["type", "links", "remaining-ms", "args"].map((name) => goParameter(name, packages))).toEqual([
    "type_",
    "links_",
    "remainingMs",
    "args_",
  ]);
});
