// The networks of a node: those of its configuration, and those that pods of the node have.

import { hostNetworks, type NamedList } from "../explain/networks.ts";
import { networksInUse } from "../explain/networks-in-use.ts";
import type { HostSettings } from "../explain/host-settings.ts";

/** The administrator's networks, and the networks that pods of the node have. Unreadable ones are left out: the check `configuration` names them. */
export function nodeNetworks(settings: HostSettings, stateDir: string): readonly NamedList[] {
  const configured = hostNetworks(settings, () => undefined);
  const lists = configured.ok ? configured.value : [];
  const known = new Set(lists.map(({ list }) => list.name));
  return [...lists, ...networksInUse([stateDir], known)];
}

/** The name of a network for messages: the list's, or `namespace/name` of its definition. */
export function networkName({ list, binding }: NamedList): string {
  return binding === undefined ? list.name : `${binding.definition.namespace}/${binding.definition.name}`;
}
