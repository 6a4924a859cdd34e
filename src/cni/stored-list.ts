// The configuration list in the file of a network that a client has set. The file also has the client's own message, which only the writer reads.

import { fault } from "../fault/fault.ts";
import { failed, type Result } from "../fault/result.ts";
import { type JsonObjectDocument, memberValue, parseDocument } from "../json/document.ts";
import { type NetworkList, parseNetworkList } from "./network-list.ts";

/** The form of the file. A later form gets another number. */
export const storedForm = 1;

/** Maximum size of the file in bytes: the message and the list, each with escapes. */
export const maxStoredBytes = 256 * 1024;

/** Reads a file's text as JSON. `what` names the file. Fault STORE_FAILED for another form or a damaged text. */
export function readStoredDocument(text: string, what: string): Result<JsonObjectDocument> {
  const document = parseDocument(text, { what, maxLength: maxStoredBytes });
  if (!document.ok) return damagedNetwork(document.fault.msg);
  if (memberValue(document.value, "form") !== storedForm)
    return damagedNetwork(`${what} was not written by this release of Plexus`);
  return document;
}

/** The file's list. `what` names the file. Fault STORE_FAILED for a damaged list, or a list of another name than the file's. */
export function listOfStored(document: JsonObjectDocument, what: string, networkName: string): Result<NetworkList> {
  const conflist = memberValue(document, "conflist");
  const list = parseNetworkList(typeof conflist === "string" ? conflist : "", what);
  if (!list.ok) return damagedNetwork(list.fault.msg);
  return list.value.name === networkName ? list : damagedNetwork(`${what} has the network ${list.value.name}`);
}

/** The fault of a file that cannot be used, with the remedy. */
export function damagedNetwork(why: string): Result<never> {
  return failed(fault("STORE_FAILED", `${why}; set the network again, or remove the file`));
}
