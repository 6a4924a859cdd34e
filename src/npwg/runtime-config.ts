// A secondary network made ready for one pod: its capability arguments, and `args.cni` written into its plugins
// (NPWG 4.1.2.1.6; CONVENTIONS.md "args in network config").

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

export interface RequestedNetwork {
  /** The list, `args.cni` of every plugin filled in where the pod asks for something that goes there. */
  readonly list: NetworkList;
  /** Each capability's name with the JSON text of its value. */
  readonly capabilityArgs: JsonMembers;
}

/**
 * Prepares `list` for what `selection` asks. `args.cni` is put together key by key: what the specification's own keys put
 * there, over the pod's `cni-args`, over the plugin's own `args.cni`, over the list's. All else of the list stays byte for
 * byte. Faults: CAPABILITY_MISSING; CONFIG_INVALID where an `args` or `args.cni` of the list is no object.
 */
export function requestAttachment(
  list: NetworkList,
  selection: NetworkSelection,
  profile: NpwgProfile,
): Result<RequestedNetwork> {
  const split = splitRequests(selection, list, profile);
  if (!split.ok) return split;
  const { capabilityArgs, cniArgs } = split.value;
  const asked = new Map([...(selection.cniArgs ?? []), ...cniArgs]);
  if (asked.size === 0) return ok({ list, capabilityArgs });
  const written = withCniArgs(list, asked);
  return written.ok ? ok({ list: written.value, capabilityArgs }) : written;
}

function withCniArgs(list: NetworkList, asked: JsonMembers): Result<NetworkList> {
  const what = `network ${list.name}`;
  const document = parseDocument(list.text, { what });
  if (!document.ok) return document;
  const ofList = cniOf(document.value, what);
  if (!ofList.ok) return ofList;
  const inherited = ofList.value?.members ?? new Map<string, string>();
  return withPlugins(list, (plugin, where) => editPlugin(plugin, inherited, asked, where));
}

function editPlugin(plugin: PluginConf, ofList: JsonMembers, asked: JsonMembers, what: string): Result<PluginConf> {
  const own = cniOf(plugin.document, what);
  if (!own.ok) return own;
  const cni = joinMembers(new Map([...ofList, ...(own.value?.members ?? []), ...asked]));
  const args = own.value?.args;
  const text = args === undefined ? `{"cni":${cni}}` : editMembers(args, new Map([["cni", cni]]));
  const document = parseDocument(editMembers(plugin.document, new Map([["args", text]])), { what });
  return document.ok ? ok({ ...plugin, document: document.value }) : document;
}

interface OwnArgs {
  readonly args: JsonObjectDocument;
  /** Of `args.cni`. */
  readonly members: JsonMembers;
}

/** An object's `args`, and the members of its `args.cni`; undefined where it has no `args`. */
function cniOf(object: JsonObjectDocument, what: string): Result<OwnArgs | undefined> {
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
