// The native plugins that networks of this node need: programs that run as root.

import type { NamedList } from "../explain/networks.ts";
import { findPlugin } from "../explain/find-plugin.ts";
import type { HostSettings } from "../explain/host-settings.ts";
import { networkName, nodeNetworks } from "./node-networks.ts";

/** The native plugins of one network. */
export interface NativeUse {
  /** The network's name, or `namespace/name` of its definition. */
  readonly network: string;
  readonly plugins: readonly NativePlugin[];
}

/** A type that a native plugin serves. */
export interface NativePlugin {
  readonly type: string;
  /** Whether a component would serve the type if no native plugin did. */
  readonly hasComponent: boolean;
}

/** The native plugins of the administrator's networks, and of the networks that pods of the node have, by network. Networks without any are left out. */
export function nativeUses(settings: HostSettings, stateDir: string): readonly NativeUse[] {
  return usesOf(nodeNetworks(settings, stateDir), settings);
}

function usesOf(networks: readonly NamedList[], { cniPath, configuration }: HostSettings): readonly NativeUse[] {
  const { type: ownType, wasm } = configuration;
  const directories = cniPath.split(":").filter((each) => each !== "");
  const uses = new Map<string, Map<string, NativePlugin>>();
  for (const each of networks) {
    const network = networkName(each);
    const types = each.list.plugins.flatMap(({ type, ipamType }) => [type, ...(ipamType === undefined ? [] : [ipamType])]);
    for (const type of types) {
      if (type === ownType || findPlugin(type, cniPath, wasm.prefer).kind !== "native") continue;
      const hasComponent = directories.some((directory) => findPlugin(type, directory, true).kind === "component");
      uses.set(network, (uses.get(network) ?? new Map<string, NativePlugin>()).set(type, { type, hasComponent }));
    }
  }
  return [...uses].map(([network, plugins]) => ({ network, plugins: [...plugins.values()] }));
}

/** The uses as one line; a type without a component is marked. */
export function nativeUseText(uses: readonly NativeUse[]): string {
  if (uses.length === 0) return "no native plugin is used by any network of this node";
  const texts = uses.map(({ network, plugins }) => {
    const types = plugins.map(({ type, hasComponent }) => (hasComponent ? type : `${type} (no component)`));
    return `${network}: ${types.join(", ")}`;
  });
  return `native plugins are used by ${texts.join("; ")}`;
}
