// Finds the node's links that a network configuration list uses: the bridge of its pods, or the link below theirs.

import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { NetworkLink } from "./node-state.ts";

/** The longest name of a link on Linux, in bytes. */
const maxName = 15;
const maxType = 253;

/** The default bridge of the reference plugin. */
const defaultBridge = "cni0";

/** Keys of the reference plugins and of Plexus' delegates that name the link below the pod's. */
const parentKeys: Readonly<Record<string, string>> = {
  macvlan: "master",
  ipvlan: "master",
  vlan: "master",
  "host-device": "device",
};

/** The links of a list's plugins, in order. `conflist` is JSON; an invalid list has none. A default route's link is not known here. */
export function linksOf(conflist: string): readonly NetworkLink[] {
  const list = parsed(conflist);
  if (!isJsonObject(list)) return [];
  const plugins: readonly unknown[] = Array.isArray(list["plugins"]) ? list["plugins"] : [list];
  return plugins.filter(isJsonObject).flatMap((plugin): NetworkLink[] => {
    const { type } = plugin;
    if (typeof type !== "string") return [];
    const shownType = inertLine(type, maxType);
    if (type === "bridge") return [{ kind: "bridge", name: nameOf(plugin["bridge"]) ?? defaultBridge, type: shownType }];
    const key = Object.hasOwn(parentKeys, type) ? parentKeys[type] : undefined;
    const name = key === undefined ? undefined : nameOf(plugin[key]);
    return name === undefined ? [] : [{ kind: "parent", name, type: shownType }];
  });
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? inertLine(value, maxName) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
