// The CNI versions that native plugins support. Plexus asks only if the network's version is before 0.3.0, which many plugins do not
// support (portmap, tuning). For later versions the answer is nearly always yes, and asking would slow down every ADD. If a plugin
// does refuse a later version, its step fails, and the DEL of the other steps still works.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { type EnvironmentPair, stepEnvironment } from "../../../src/cni/environment.ts";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { readVersionAnswer, VERSION_PROBE_CALL, VERSION_PROBE_STDIN } from "../../../src/cni/version-answer.ts";
import { DEFAULT_VERSION, versionAtLeast } from "../../../src/cni/versions.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { Found } from "../../protocol/messages.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";

/** Maximum milliseconds for a plugin's answer to VERSION. */
export const versionStepMs = 5000;
/** Maximum number of binaries in the cache of answers. */
const maxBinaries = 256;

/** The supported versions by path and identity of the binary. A replaced file has another identity. */
const answers = new Map<string, readonly string[]>();

/** One native plugin of a chain, and the means to execute it for VERSION. */
export interface VersionQuestion {
  readonly plugin: PluginConf;
  readonly found: Pick<Found, "path" | "identity">;
  /** The call's CNI_PATH, on which the shim finds the binary. */
  readonly path: string;
  readonly inherited: readonly EnvironmentPair[];
  readonly run: RunStep;
}

/** Whether the network's version is so old that current plugins may not support it. */
export function mayLackVersion({ cniVersion }: Pick<NetworkList, "cniVersion">): boolean {
  const recent = versionAtLeast(cniVersion, "0.3.0");
  return recent.ok && !recent.value;
}

/**
 * The fault VERSION_UNSUPPORTED if the plugin says that it does not support the network's version; otherwise undefined, also if the
 * plugin does not answer.
 */
export async function versionRefusal(
  { cniVersion }: Pick<NetworkList, "cniVersion">,
  question: VersionQuestion,
): Promise<Fault | undefined> {
  const version = cniVersion === "" ? DEFAULT_VERSION : cniVersion;
  const versions = await versionsOf(question);
  if (versions === undefined || versions.includes(version)) return undefined;
  const { plugin, found } = question;
  const why = `${plugin.type}: the network's cniVersion is "${version}", plugin ${found.path} supports ${versions.join(", ")}`;
  return fault("VERSION_UNSUPPORTED", why);
}

async function versionsOf({ plugin, found, path, inherited, run }: VersionQuestion): Promise<readonly string[] | undefined> {
  const key = `${found.path}:${found.identity}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const step: ChainStep = {
    index: 0,
    plugin,
    verb: "VERSION",
    stdin: VERSION_PROBE_STDIN,
    env: stepEnvironment({ ...VERSION_PROBE_CALL, path }, inherited),
    prevResult: undefined,
    attachment: undefined,
  };
  const read = readVersionAnswer(await run(step));
  if (!read.ok) return undefined;
  if (answers.size >= maxBinaries) answers.clear();
  answers.set(key, read.value);
  return read.value;
}
