// Merges the host configuration: the CNI configuration, and below it the file that it names. A key of the CNI configuration
// replaces the file's as a whole; objects are not merged.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, type JsonObjectDocument, parseDocument } from "../json/document.ts";
import { cniConfigurationOnly, runtimeKeys, spelledKeys } from "./keys.ts";

/** The file that `configFile` names. */
export interface ConfigurationFile {
  readonly path: string;
  readonly text: string;
}

/** The merged configuration; one notice for each key that an administrator should correct. */
export interface LayeredConfiguration {
  readonly document: JsonObjectDocument;
  readonly notices: readonly string[];
}

const defaultNetworkKeys: readonly string[] = ["clusterNetwork", "delegates"];

const what = "network configuration on stdin";

/** The CNI configuration with canonical key spelling; the same document if all keys have it already. */
export function readLayer(document: JsonObjectDocument): Result<LayeredConfiguration> {
  const { members, notices } = spelledKeys(document);
  if (notices.length === 0) return ok({ document, notices });
  const respelled = parseDocument(objectText(members), { what });
  return respelled.ok ? ok({ document: respelled.value, notices }) : respelled;
}

/** Far more keys than one object of a configuration has. */
const maxKeys = 1000;

/**
 * `cniConfiguration` with the keys that only the file has. Faults: CONFIG_NOT_JSON; CONFIG_INVALID if the file has a key that
 * only the CNI configuration may have.
 */
export function withFile(cniConfiguration: JsonObjectDocument, file: ConfigurationFile): Result<LayeredConfiguration> {
  const parsed = parseDocument(file.text, { what: `configuration file ${file.path}`, maxKeys });
  if (!parsed.ok) return parsed;
  const { members, notices } = spelledKeys(parsed.value);
  const misplaced = [...cniConfigurationOnly, ...runtimeKeys].filter((key) => members.has(key));
  if (misplaced.length > 0) {
    const keys = misplaced.join(", ");
    return failed(
      fault(
        "CONFIG_INVALID",
        `configuration file ${file.path}: ${keys}: only the CNI configuration may have this; move it there`,
      ),
    );
  }
  // Both keys name the default network: if the CNI configuration has one of them, the file's other one is overridden too.
  const namesDefault = defaultNetworkKeys.some((key) => cniConfiguration.members.has(key));
  const isOverridden = (key: string): boolean =>
    cniConfiguration.members.has(key) || (namesDefault && defaultNetworkKeys.includes(key));
  const added = new Map([...members].filter(([key]) => !isOverridden(key)));
  const allNotices = [...notices];
  if (added.delete("capabilities")) {
    allNotices.push(`configuration file ${file.path}: capabilities is read by the runtime: move it to the CNI configuration`);
  }
  const layered = parseDocument(editMembers(cniConfiguration, added), { what });
  return layered.ok ? ok({ document: layered.value, notices: allNotices }) : layered;
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
