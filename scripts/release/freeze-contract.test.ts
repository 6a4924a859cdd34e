import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { componentOf, coreModuleOf, declared } from "../../test/hostile/components/wat.ts";
import {
  type FreezePlaces,
  freezeContracts,
  frozenComponents,
  modelDigest,
  readReleased,
  unfrozenContracts,
} from "./freeze-contract.ts";

let root: string;
let places: FreezePlaces;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-freeze-"));
  places = { wit: join(root, "wit"), built: join(root, "built"), compat: join(root, "compat") };
  cpSync("wit/1.0.0", join(places.wit, "1.0.0"), { recursive: true });
  for (const directory of [places.built, places.compat]) mkdirSync(directory);
  writeFileSync(join(places.compat, "released.json"), "{}\n");
  const component = await componentOf(await coreModuleOf(""));
  for (const name of frozenComponents) writeFileSync(built(name), declared(component, name, []));
});
afterEach(() => rmSync(root, { recursive: true }));

const built = (name: string): string => join(places.built, `${name}.wasm`);
const model = (version: string): string => join(places.wit, version, "generated/model.json");
const frozen = (): readonly string[] => readdirSync(places.compat).toSorted();

test("the first release keeps the model's digest, and the components byte for byte", () => {
  expect(unfrozenContracts(places)).toEqual(["1.0.0"]);
  expect(freezeContracts(places)).toEqual(["1.0.0"]);
  expect(readReleased(places.compat)).toEqual({ "1.0.0": modelDigest(readFileSync(model("1.0.0"), "utf8")) });
  expect(readdirSync(join(places.compat, "1.0.0")).toSorted()).toEqual(frozenComponents.map((name) => `${name}.wasm`));
  for (const name of frozenComponents)
    expect(readFileSync(join(places.compat, "1.0.0", `${name}.wasm`)).equals(readFileSync(built(name)))).toBe(true);
});

test("a later release with the same contract keeps the components of the first", () => {
  freezeContracts(places);
  const first = readFileSync(join(places.compat, "1.0.0/tuning.wasm"));
  writeFileSync(built("tuning"), "another build");
  expect(freezeContracts(places)).toEqual([]);
  expect(readFileSync(join(places.compat, "1.0.0/tuning.wasm")).equals(first)).toBe(true);
  writeFileSync(model("1.0.0"), JSON.stringify(JSON.parse(readFileSync(model("1.0.0"), "utf8")), undefined, 7));
  expect(unfrozenContracts(places)).toEqual([]);
});

test("a changed model of a released contract is refused", () => {
  freezeContracts(places);
  writeFileSync(model("1.0.0"), readFileSync(model("1.0.0"), "utf8").replace('"remaining-ms"', '"remaining"'));
  expect(() => freezeContracts(places)).toThrow(
    "wit/1.0.0/generated/model.json is not as it was released: take the change back, and make a new version beside it",
  );
});

test("nothing is written if a component is missing, cannot run, or speaks another contract", () => {
  rmSync(built("portmap"));
  expect(() => freezeContracts(places)).toThrow("portmap.wasm is missing: run npm run build");
  writeFileSync(built("portmap"), "no component");
  expect(() => freezeContracts(places)).toThrow("portmap.wasm: component refused: ");
  cpSync(built("tuning"), built("portmap"));
  cpSync(join(places.wit, "1.0.0"), join(places.wit, "1.1.0"), { recursive: true });
  expect(() => freezeContracts(places)).toThrow("is built for the contract 1.0.0, not 1.1.0");
  expect(frozen()).toEqual(["released.json"]);
});
