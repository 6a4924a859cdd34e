// The configuration on one plugin's stdin (L-25..L-30): the plugin's own object with the runtime's additions. All other bytes
// stay as the administrator wrote them.

import { editMembers } from "../json/document.ts";
import type { AttachmentId } from "./attachment.ts";
import type { NetworkList, PluginConf } from "./network-list.ts";

/** JSON text by key; undefined removes the key. */
export type Injection = readonly (readonly [key: string, text: string | undefined])[];

/** `name` and `cniVersion` of the list, which overwrite those of the plugin's object (L-25). */
function identity(list: NetworkList): Injection {
  return [
    ["cniVersion", JSON.stringify(list.cniVersion)],
    ["name", JSON.stringify(list.name)],
  ];
}

/**
 * `runtimeConfig` with the capability arguments that the plugin declares (L-27). Nothing if there are none: a `runtimeConfig` in
 * the configuration then stays, as in libcni.
 */
function runtimeConfig(plugin: PluginConf, capabilityArgs: ReadonlyMap<string, string>): Injection {
  const members: string[] = [];
  for (const capability of plugin.capabilities) {
    const text = capabilityArgs.get(capability);
    if (text !== undefined) members.push(`${JSON.stringify(capability)}:${text}`);
  }
  return members.length === 0 ? [] : [["runtimeConfig", `{${members.join(",")}}`]];
}

function inject(plugin: PluginConf, capabilities: "keep" | "strip" | undefined, injections: readonly Injection[]): string {
  const edits = new Map(injections.flat());
  if (capabilities === "strip") edits.set("capabilities", undefined);
  return editMembers(plugin.document, edits);
}

/** stdin for ADD, DEL and CHECK. `prevResult` is JSON text in the version that its printer chose (L-26). */
export function attachmentStdin(
  list: NetworkList,
  plugin: PluginConf,
  prevResult: string | undefined,
  capabilityArgs: ReadonlyMap<string, string>,
  capabilities?: "keep" | "strip",
): string {
  const previous: Injection = prevResult === undefined ? [] : [["prevResult", prevResult]];
  return inject(plugin, capabilities, [identity(list), previous, runtimeConfig(plugin, capabilityArgs)]);
}

/** stdin for STATUS: without previous result and capability arguments (L-42). */
export function statusStdin(list: NetworkList, plugin: PluginConf, capabilities?: "keep" | "strip"): string {
  return inject(plugin, capabilities, [identity(list)]);
}

/**
 * stdin for GC. The list of valid attachments stands under the specification's key and under the key that libcni once used by
 * mistake (L-43).
 */
export function gcStdin(
  list: NetworkList,
  plugin: PluginConf,
  valid: readonly AttachmentId[],
  capabilities?: "keep" | "strip",
): string {
  const text = JSON.stringify(valid.map(({ containerId, ifname }) => ({ containerID: containerId, ifname })));
  const attachments: Injection = [
    ["cni.dev/valid-attachments", text],
    ["cni.dev/attachments", text],
  ];
  return inject(plugin, capabilities, [identity(list), attachments]);
}
