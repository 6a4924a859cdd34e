// Edits the plugins of a list for one pod; all other bytes stay.

import { ok, type Result } from "../fault/result.ts";
import { editMembers, parseDocument } from "../json/document.ts";
import type { NetworkList, PluginConf } from "../cni/network-list.ts";

/** Edits one plugin; `what` names it in messages. */
export type EditPlugin = (plugin: PluginConf, what: string) => Result<PluginConf>;

/** The list with every plugin edited, also in its text (which lacks the subdirectory's plugins). Faults are those of `edit`. */
export function withPlugins(list: NetworkList, edit: EditPlugin): Result<NetworkList> {
  const what = `network ${list.name}`;
  const document = parseDocument(list.text, { what });
  if (!document.ok) return document;
  const plugins: PluginConf[] = [];
  for (const [index, plugin] of list.plugins.entries()) {
    const edited = edit(plugin, `${what}: plugins[${index}]`);
    if (!edited.ok) return edited;
    plugins.push(edited.value);
  }
  const inlined = plugins.slice(0, list.inlined).map((plugin) => plugin.document.text);
  const text = editMembers(document.value, new Map([["plugins", inlined.length === 0 ? undefined : `[${inlined.join(",")}]`]]));
  return ok({ ...list, plugins, text });
}
