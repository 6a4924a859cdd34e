// Finds and reads the set-up of a plugin: conformance.json, a configuration, or the delegate's vectors.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readVectors, vectorOf, type Vector } from "../testing/vector.ts";
import { type Setup, setupOf } from "./setup.ts";

/** Sources on a command line. */
export interface SetupSource {
  /** A `conformance.json`. */
  readonly config?: string | undefined;
  /** A network configuration, or a vector's `.in.json`. */
  readonly request?: string | undefined;
}

/**
 * Reads the set-up. Without a source: `conformance.json` beside the plugin or one directory above, then the first ADD of `vectors/` there
 * that succeeds. Throws an Error that names the file and the field, or the remedy.
 */
export async function readSetup({ config, request }: SetupSource, plugin: string, type: string): Promise<Setup> {
  if (config !== undefined) return setupOf(config, readJson(config), type);
  if (request !== undefined) return requestSetup(request, type);
  const beside = dirname(resolve(plugin));
  const directories = [beside, dirname(beside)];
  const file = directories.map((directory) => join(directory, "conformance.json")).find((path) => existsSync(path));
  if (file !== undefined) return setupOf(file, readJson(file), type);
  for (const directory of directories.map((each) => join(each, "vectors"))) {
    if (!existsSync(directory)) continue;
    const vectors = await readVectors(directory);
    const found = vectors.find(({ verb, answer }) => verb === "ADD" && answer?.result !== undefined);
    if (found !== undefined) return vectorSetup(join(directory, `${found.name}.in.json`), found, type);
  }
  throw new Error(
    `no valid configuration of ${type} is known: add conformance.json beside the plugin, or name a configuration with --request=FILE`,
  );
}

function requestSetup(file: string, type: string): Setup {
  const value = readJson(file);
  const isVector = typeof value === "object" && value !== null && "stdin" in value;
  if (isVector) return vectorSetup(file, vectorOf(file, readFileSync(file, "utf8"), "request"), type);
  return setupOf(file, fromConfiguration(value), type);
}

function vectorSetup(file: string, vector: Vector, type: string): Setup {
  const { env, links, sysctl, ovs, resolver, stdin } = vector;
  const value = {
    ...fromConfiguration(stdin),
    ifname: env["CNI_IFNAME"],
    args: env["CNI_ARGS"],
    links: links?.host.map(({ name, addresses }) => ({ name, addresses })),
    sysctl: sysctl?.values,
    ...(ovs?.bridges === undefined ? {} : { ovs: { bridges: ovs.bridges, vlans: ovs.vlans } }),
    resolver,
  };
  return setupOf(file, value, type);
}

/** The set-up of a configuration. `prevResult` makes the plugin a chained one; the kit has a prevResult of its own. */
function fromConfiguration(value: unknown): object {
  if (typeof value !== "object" || value === null) return { configuration: value };
  const { cniVersion: _version, prevResult, ...configuration } = value as Record<string, unknown>;
  return prevResult === undefined ? { configuration } : { role: "chained", configuration };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
