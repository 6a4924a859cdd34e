// The file of a network that a client has set: the network's message, and its configuration list as translated then.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import { damagedNetwork, listOfStored, readStoredDocument, storedForm } from "../../../src/cni/stored-list.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { memberValue } from "../../../src/json/document.ts";
import { type NetworkConfig, networkMessage, readNetworkConfig } from "./network-config.ts";

/** A network with its list. */
export interface StoredNetwork {
  readonly config: NetworkConfig;
  readonly list: NetworkList;
}

/** The file's text. */
export function printStoredNetwork({ config, list }: StoredNetwork): string {
  return `${JSON.stringify({ form: storedForm, config: networkMessage(config), conflist: list.text })}\n`;
}

/** Reads a file's text. `what` names the file. Fault STORE_FAILED for another form, a damaged text, or a list of another name than the file's. */
export function readStoredNetwork(text: string, what: string, networkName: string): Result<StoredNetwork> {
  const document = readStoredDocument(text, what);
  if (!document.ok) return document;
  const config = readNetworkConfig(memberValue(document.value, "config"));
  if (!config.ok) return damagedNetwork(`${what}: ${config.fault.msg}`);
  const list = listOfStored(document.value, what, networkName);
  if (!list.ok) return list;
  if (config.value.networkName !== networkName) return damagedNetwork(`${what} has the network ${list.value.name}`);
  return ok({ config: config.value, list: list.value });
}
