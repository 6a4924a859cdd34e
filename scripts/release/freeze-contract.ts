// `node scripts/release/freeze-contract.ts`, before the commit of a release: freezes each version of wit/ that no release had before. Its model's digest and
// the built components that speak it go to test/ship/compat/, whose tests then hold both for all later releases.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { examineComponent } from "../../host/sandbox/admission/examine.ts";
import { defaultLimits } from "../../host/sandbox/limits.ts";
import { modelPath, releasesIn } from "../../wit/codegen/releases.ts";

/** The components that are kept of each contract: those of the life in test/ship/compat/released.test.ts. */
export const frozenComponents = ["bridge-adapter", "ipam-host-local", "portmap", "tuning"] as const;

/** The released contracts: SHA-256 of each version's model. */
export type ReleasedContracts = Readonly<Record<string, string>>;

/** The directories of a freeze: the contracts (`wit/`), the built components (`dist/delegates/`), and the frozen ones (`test/ship/compat/`). */
export interface FreezePlaces {
  readonly wit: string;
  readonly built: string;
  readonly compat: string;
}

/** The SHA-256 of a model's JSON, whatever its spaces. */
export function modelDigest(model: string): string {
  return createHash("sha256")
    .update(JSON.stringify(JSON.parse(model)))
    .digest("hex");
}

/** Reads `released.json` of the directory of frozen components. */
export function readReleased(compat: string): ReleasedContracts {
  return JSON.parse(readFileSync(join(compat, "released.json"), "utf8"));
}

/** The versions of `wit/` that are not frozen. Throws an Error for a frozen version whose model has changed. */
export function unfrozenContracts({ wit, compat }: Omit<FreezePlaces, "built">): readonly string[] {
  const released = readReleased(compat);
  return releasesIn(wit).filter((version) => {
    const frozen = released[version];
    if (frozen === undefined) return true;
    if (frozen === modelDigest(readFileSync(join(wit, modelPath(version)), "utf8"))) return false;
    throw new Error(
      `wit/${modelPath(version)} is not as it was released: take the change back, and make a new version beside it`,
    );
  });
}

/** Freezes the versions that are not frozen, and answers them. Throws an Error, before it writes, if a component is missing or speaks another version. */
export function freezeContracts({ wit, built, compat }: FreezePlaces): readonly string[] {
  const versions = unfrozenContracts({ wit, compat });
  for (const version of versions) for (const name of frozenComponents) requireBuilt(join(built, `${name}.wasm`), version);
  const digests = versions.map((version) => [version, modelDigest(readFileSync(join(wit, modelPath(version)), "utf8"))]);
  for (const version of versions) {
    mkdirSync(join(compat, version));
    for (const name of frozenComponents) copyFileSync(join(built, `${name}.wasm`), join(compat, version, `${name}.wasm`));
  }
  const released = { ...readReleased(compat), ...Object.fromEntries(digests) };
  if (versions.length > 0) writeFileSync(join(compat, "released.json"), `${JSON.stringify(released, undefined, 2)}\n`);
  return versions;
}

function requireBuilt(path: string, version: string): void {
  if (!existsSync(path)) throw new Error(`${path} is missing: run npm run build`);
  const examined = examineComponent(readFileSync(path), defaultLimits);
  if (!examined.ok) throw new Error(`${path}: ${examined.fault.msg}`);
  const { abi } = examined.value.declaration;
  if (abi !== version)
    throw new Error(
      `${path} is built for the contract ${abi}, not ${version}: a new contract is released with components that speak it`,
    );
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, "../..");
  const places = { wit: join(root, "wit"), built: join(root, "dist/delegates"), compat: join(root, "test/ship/compat") };
  const versions = freezeContracts(places);
  const frozen = versions.length === 0 ? "no new contract" : `${versions.join(", ")}: commit test/ship/compat/ with the release`;
  process.stdout.write(`${frozen}\n`);
}
