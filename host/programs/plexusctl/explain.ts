// plexusctl explain: what each step of a network would be, and whether it would be loaded.

import { ok, type Result } from "../../src/fault/result.ts";
import { explain, type Explanation } from "../explain/explanation.ts";
import { type HostSettings, readHostSettings } from "../explain/host-settings.ts";
import { type NamedList, networkInCluster, networksInFile, type NetworksInit, ownNetworks } from "../explain/networks.ts";

export interface ExplainInit {
  /** A file, or `namespace/name` of a NetworkAttachmentDefinition; undefined: what the host configuration has. */
  readonly target: string | undefined;
  /** Plexus' own configuration: a file, or a directory that has it. */
  readonly config: string;
  readonly cniPath: string;
}

const definitionName = /^[a-z0-9][-a-z0-9]*\/[a-z0-9][-a-z0-9.]*$/;

/** Faults as of a call that reads the same. */
export async function explainTarget({ target, config, cniPath }: ExplainInit): Promise<Result<Explanation>> {
  const settings = readHostSettings(config, cniPath);
  if (!settings.ok) return settings;
  const warnings: string[] = [];
  const init = { settings: settings.value, cniPath, warn: (text: string) => void warnings.push(text) };
  const networks = await networksOf(target, init);
  if (!networks.ok) return networks;
  return ok(explain(networks.value, { settings: settings.value, cniPath, warnings }));
}

async function networksOf(target: string | undefined, init: NetworksInit): Promise<Result<readonly NamedList[]>> {
  if (target === undefined) return ownOf(init.settings, init);
  // A file of that name wins: whoever means the definition can leave the directory.
  const [namespace = "", name = ""] = target.split("/");
  const { existsSync } = await import("node:fs");
  return definitionName.test(target) && !existsSync(target)
    ? networkInCluster(namespace, name, init)
    : networksInFile(target, init);
}

function ownOf(settings: HostSettings | undefined, { warn }: NetworksInit): Result<readonly NamedList[]> {
  return settings === undefined ? ok([]) : ownNetworks(settings, warn);
}
