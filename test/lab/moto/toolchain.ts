// moto, an emulator of AWS, and the packages of the EC2 provider, in the tests' cache. test/lab/moto/get.ts puts both there.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";

/** The release of moto. */
export const motoVersion = "5.2.5";
/** The virtual environment. */
export const motoCache = join(testCache, `moto-${motoVersion}`);
/** The emulator's server. */
export const motoServer = join(motoCache, "bin", "moto_server");
/** The source of the EC2 provider. */
export const ec2ProviderSource = join(root, "deploy/examples/ec2-provider");

/** A directory with the provider's packages, by the lock file. */
export function ec2ProviderPackages(): string {
  const lock = createHash("sha256")
    .update(readFileSync(join(ec2ProviderSource, "package-lock.json")))
    .digest("hex");
  return join(testCache, `ec2-provider-${lock.slice(0, 16)}`);
}

/** The reason why the EC2 provider cannot be tried, or undefined. */
export function missingMoto(): string | undefined {
  const isThere = existsSync(motoServer) && existsSync(join(ec2ProviderPackages(), "node_modules"));
  return isThere ? undefined : "no moto or no packages of the EC2 provider: get both once: node test/lab/moto/get.ts";
}
