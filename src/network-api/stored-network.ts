// The file of a network that a client has set: the network's message, and its configuration list as translated then.

import { type NetworkList, parseNetworkList } from "../cni/network-list.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { memberValue, parseDocument } from "../json/document.ts";
import { type NetworkConfig, networkMessage, readNetworkConfig } from "./network-config.ts";

/** A network with its list. */
export interface StoredNetwork {
  readonly config: NetworkConfig;
  readonly list: NetworkList;
}

/** The form of the file. A later form gets another number. */
const form = 1;

/** Maximum size of the file in bytes: the message and the list, each with escapes. */
export const maxStoredBytes = 256 * 1024;

/** The file's text. */
export function printStoredNetwork({ config, list }: StoredNetwork): string {
  return `${JSON.stringify({ form, config: networkMessage(config), conflist: list.text })}\n`;
}

/** Reads a file's text. `what` names the file. Fault STORE_FAILED for another form, a damaged text, or a list of another name than the file's. */
export function readStoredNetwork(text: string, what: string, networkName: string): Result<StoredNetwork> {
  const document = parseDocument(text, { what, maxLength: maxStoredBytes });
  if (!document.ok) return damaged(document.fault.msg);
  if (memberValue(document.value, "form") !== form) return damaged(`${what} was not written by this release of Plexus`);
  const config = readNetworkConfig(memberValue(document.value, "config"));
  if (!config.ok) return damaged(`${what}: ${config.fault.msg}`);
  const conflist = memberValue(document.value, "conflist");
  const list = parseNetworkList(typeof conflist === "string" ? conflist : "", what);
  if (!list.ok) return damaged(list.fault.msg);
  if (list.value.name !== networkName || config.value.networkName !== networkName)
    return damaged(`${what} has the network ${list.value.name}`);
  return ok({ config: config.value, list: list.value });
}

function damaged(why: string): Result<never> {
  return failed(fault("STORE_FAILED", `${why}; set the network again, or remove the file`));
}
