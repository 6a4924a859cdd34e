// Names of delegates: the plugin type, which is the component's file name and the `type` of configurations.

import { referencePlugins } from "../../../src/cni/reference-plugins.ts";

/** The valid names: a file name in every directory of CNI_PATH. */
export const delegateName = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** The rule of `delegateName` for error messages. */
export const delegateNameRule = "must be 1 to 63 of a-z, 0-9, - and _, and begin with a letter or a digit";

/** CNI's reference plugins, which distributions install beside a delegate, and those of Windows. */
const foreignNames: readonly string[] = [...referencePlugins, "win-bridge", "win-overlay"];

/** Plexus' own programs and components. Those that replace a reference plugin have its name. */
const plexusNames = [
  "plexus",
  "plexusctl",
  "plexusd",
  "bond",
  "bridge-adapter",
  "external-port",
  "ipam-host-local",
  "ovs",
  "route-override",
  "status-shaper",
  "sdk",
];

/** The reason why a new delegate can't have this name, with a remedy; undefined if it can. */
export function nameRefusal(name: string): string | undefined {
  if (!delegateName.test(name)) return `the name ${JSON.stringify(name)} ${delegateNameRule}`;
  const owner = reservedBy(name);
  return owner === undefined
    ? undefined
    : `the name ${name} belongs to ${owner}, and a node has one plugin of a name: choose another, such as my-${name}`;
}

/** The owner of a name that other plugins use; undefined if the name is free. */
export function reservedBy(name: string): string | undefined {
  if (foreignNames.includes(name)) return "a reference plugin of CNI";
  return plexusNames.includes(name) ? "Plexus" : undefined;
}
