// Prepares a secondary network for one pod: its capability arguments, and `args.cni` of its plugins (NPWG 4.1.2.1.6;
// CONVENTIONS.md "args in network config").

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import {
  describeJson,
  editMembers,
  isJsonObject,
  type JsonObjectDocument,
  memberText,
  memberTexts,
  memberValue,
  parseDocument,
} from "../json/document.ts";
import type { NetworkList, PluginConf } from "../cni/network-list.ts";
import { splitRequests } from "./capability-args.ts";
import type { JsonMembers, NetworkSelection } from "./network-selection.ts";
import { withPlugins } from "./network-plugins.ts";
import type { NpwgProfile } from "./profile.ts";

/** A network prepared for one pod. */
export interface RequestedNetwork {
  /** The list with `args.cni` of every plugin filled in, if the pod's requests need it. */
  readonly list: NetworkList;
  /** Capability name to the JSON text of its value. */
  readonly capabilityArgs: JsonMembers;
}

/**
 * Prepares `list` for the requests of `selection`. `args.cni` is merged key by key; in order of precedence: the values of the
 * specification's own keys, the pod's `cni-args`, the plugin's own `args.cni`, the list's. All other bytes of the list stay.
 * Faults: CAPABILITY_MISSING; CONFIG_INVALID if an `args` or `args.cni` of the list is not an object.
 */
export function requestAttachment(
  list: NetworkList,
  selection: NetworkSelection,
  profile: NpwgProfile,
): Result<RequestedNetwork> {
  const split = splitRequests(selection, list, profile);
  if (!split.ok) return split;
  const { capabilityArgs, cniArgs } = split.value;
  const requested = new Map([...(selection.cniArgs ?? []), ...cniArgs]);
  if (requested.size === 0) return ok({ list, capabilityArgs });
  const written = withCniArgs(list, requested);
  return written.ok ? ok({ list: written.value, capabilityArgs }) : written;
}

function withCniArgs(list: NetworkList, requested: JsonMembers): Result<NetworkList> {
  const what = `network ${list.name}`;
  const document = parseDocument(list.text, { what });
  if (!document.ok) return document;
  const ofList = argsOf(document.value, what);
  if (!ofList.ok) return ofList;
  const inherited = ofList.value?.members ?? new Map<string, string>();
  return withPlugins(list, (plugin, where) => editPlugin(plugin, inherited, requested, where));
}

function editPlugin(plugin: PluginConf, ofList: JsonMembers, requested: JsonMembers, what: string): Result<PluginConf> {
  const pluginArgs = argsOf(plugin.document, what);
  if (!pluginArgs.ok) return pluginArgs;
  const cni = joinMembers(new Map([...ofList, ...(pluginArgs.value?.members ?? []), ...requested]));
  const args = pluginArgs.value?.args;
  const text = args === undefined ? `{"cni":${cni}}` : editMembers(args, new Map([["cni", cni]]));
  const document = parseDocument(editMembers(plugin.document, new Map([["args", text]])), { what });
  return document.ok ? ok({ ...plugin, document: document.value }) : document;
}

interface CniArgs {
  readonly args: JsonObjectDocument;
  /** The members of `args.cni`. */
  readonly members: JsonMembers;
}

/** An object's `args`, and the members of its `args.cni`; undefined without `args`. */
function argsOf(object: JsonObjectDocument, what: string): Result<CniArgs | undefined> {
  const value = memberValue(object, "args");
  const text = memberText(object, "args");
  if (value === undefined || value === null || text === undefined) return ok(undefined);
  if (!isJsonObject(value))
    return failed(fault("CONFIG_INVALID", `${what}: args must be an object, but is ${describeJson(value)}`));
  const args = parseDocument(text, { what });
  if (!args.ok) return args;
  const cni = memberValue(args.value, "cni");
  if (cni === undefined || cni === null) return ok({ args: args.value, members: new Map() });
  if (!isJsonObject(cni)) {
    return failed(fault("CONFIG_INVALID", `${what}: args.cni must be an object, but is ${describeJson(cni)}`));
  }
  return ok({ args: args.value, members: memberTexts(memberText(args.value, "cni") ?? "{}") });
}

function joinMembers(members: JsonMembers): string {
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
