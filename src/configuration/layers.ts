// The host configuration put together: what the CNI configuration says, and below it what the file says that it names. A key
// of the CNI configuration wins as a whole; objects are not merged.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, type JsonObjectDocument, parseDocument } from "../json/document.ts";
import { cniConfigurationOnly, runtimeKeys, spelledKeys } from "./keys.ts";

export interface ConfigurationFile {
  readonly path: string;
  readonly text: string;
}

export interface LayeredConfiguration {
  readonly document: JsonObjectDocument;
  readonly notices: readonly string[];
}

const defaultNetworkKeys: readonly string[] = ["clusterNetwork", "delegates"];

const what = "network configuration on stdin";

/** The CNI configuration with its keys in their own spelling: the same document where nothing had to be changed. */
export function readLayer(document: JsonObjectDocument): Result<LayeredConfiguration> {
  const { members, notices } = spelledKeys(document);
  if (notices.length === 0) return ok({ document, notices });
  const respelled = parseDocument(objectText(members), { what });
  return respelled.ok ? ok({ document: respelled.value, notices }) : respelled;
}

/**
 * `own` with the keys that only the file has. Faults: CONFIG_NOT_JSON; CONFIG_INVALID where the file has a key that only
 * the CNI configuration may have.
 */
export function withFile(own: JsonObjectDocument, file: ConfigurationFile): Result<LayeredConfiguration> {
  const parsed = parseDocument(file.text, { what: `configuration file ${file.path}` });
  if (!parsed.ok) return parsed;
  const { members, notices } = spelledKeys(parsed.value);
  const misplaced = [...cniConfigurationOnly, ...runtimeKeys].filter((key) => members.has(key));
  if (misplaced.length > 0) {
    const keys = misplaced.join(", ");
    return failed(fault("CONFIG_INVALID", `configuration file ${file.path}: ${keys}: only the CNI configuration may have this`));
  }
  // Two ways of naming one thing: where the CNI configuration has one of them, the file's other one loses too.
  const namesDefault = defaultNetworkKeys.some((key) => own.members.has(key));
  const loses = (key: string): boolean => own.members.has(key) || (namesDefault && defaultNetworkKeys.includes(key));
  const added = new Map([...members].filter(([key]) => !loses(key)));
  const told = [...notices];
  if (added.delete("capabilities")) {
    told.push(`configuration file ${file.path}: capabilities is read by the runtime: it has to stand in the CNI configuration`);
  }
  const layered = parseDocument(editMembers(own, added), { what });
  return layered.ok ? ok({ document: layered.value, notices: told }) : layered;
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
