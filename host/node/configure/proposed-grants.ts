// Proposes grants for every component on CNI_PATH, by type: each capability that the component declares, with its bounds empty, to be filled in.

import { readdirSync } from "node:fs";
import { listOfOne, parsePluginConf } from "../../../src/cni/network-list.ts";
import { explain } from "../explain/explain-networks.ts";
import type { NamedList } from "../explain/networks.ts";

/** The bounds of each capability that are empty lists without an administrator's choice. Default paths and switches are left out. */
const emptyBounds: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  links: { bridges: [], parents: [], uplinks: [], podLinks: [], networks: [] },
  sysctl: { keys: [] },
  firewall: { hostPorts: [] },
  delegation: { plugins: [] },
  ovs: { bridges: [], interfaceIds: [], vlans: [] },
};

/** The proposals by type: optional capabilities, too. A component that cannot be admitted has none. */
export async function proposedGrants(cniPath: string): Promise<Readonly<Record<string, object>>> {
  const networks = componentTypes(cniPath).flatMap((type): NamedList[] => {
    const plugin = parsePluginConf(JSON.stringify({ cniVersion: "1.0.0", name: "proposal", type }), type);
    const list = plugin.ok ? listOfOne(plugin.value) : plugin;
    return list.ok ? [{ source: type, list: list.value }] : [];
  });
  const explained = await explain(networks, { settings: undefined, cniPath, warnings: [] });
  return Object.fromEntries(
    explained.networks.flatMap(({ steps: [step] }) => {
      const declared = (step?.capabilities ?? []).filter(({ imported }) => imported);
      if (step === undefined || declared.length === 0) return [];
      return [[step.type, Object.fromEntries(declared.map(({ name }) => [name, emptyBounds[name] ?? {}]))]];
    }),
  );
}

function componentTypes(cniPath: string): readonly string[] {
  const names = cniPath.split(":").flatMap((directory) => {
    try {
      return readdirSync(directory);
    } catch {
      return [];
    }
  });
  const types = names.filter((name) => name.endsWith(".wasm")).map((name) => name.slice(0, -".wasm".length));
  return [...new Set(types)].toSorted();
}
