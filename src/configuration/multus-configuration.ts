// Reads one configuration of Multus: that of its daemon (thick, `daemon-config.json`), or the CNI configuration that a runtime reads
// (thin and thick, `00-multus.conf` or `.conflist`).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { isJsonObject, type JsonObjectDocument, memberText, memberValue, parseDocument } from "../json/document.ts";
import { spelledKeys } from "./keys.ts";

/** A configuration of Multus, with its keys in their documented spelling. */
export interface MultusConfiguration {
  /** The file, for messages. */
  readonly source: string;
  /** `daemon`: of the thick Multus' daemon; `cni`: a CNI configuration of Multus' plugin or shim. */
  readonly role: "daemon" | "cni";
  readonly keys: ReadonlyMap<string, unknown>;
}

/** The plugin types of Multus: thin plugin and thick Multus' shim. */
const multusTypes: readonly unknown[] = ["multus", "multus-shim"];

/** Reads a configuration. Faults: CONFIG_NOT_JSON; CONFIG_INVALID if it is a CNI configuration without Multus. */
export function readMultusConfiguration(text: string, source: string): Result<MultusConfiguration> {
  const parsed = parseDocument(text, { what: source });
  if (!parsed.ok) return parsed;
  const plugins = memberValue(parsed.value, "plugins");
  const keys = keysOf(parsed.value);
  if (plugins === undefined) {
    const type = keys.get("type");
    if (type !== undefined && !multusTypes.includes(type)) return notMultus(source);
    return ok({ source, role: type === undefined ? "daemon" : "cni", keys });
  }
  const plugin = (Array.isArray(plugins) ? plugins : []).find((each) => isJsonObject(each) && multusTypes.includes(each["type"]));
  if (plugin === undefined) return notMultus(source);
  const document = parseDocument(JSON.stringify(plugin), { what: source });
  if (!document.ok) return document;
  const ofList = [...keys].filter(([key]) => key !== "plugins");
  return ok({ source, role: "cni", keys: new Map([...ofList, ...keysOf(document.value)]) });
}

function keysOf(document: JsonObjectDocument): ReadonlyMap<string, unknown> {
  const { members } = spelledKeys(document);
  return new Map(
    [...members].map(([key, text]) => {
      const value: unknown = JSON.parse(memberText(document, key) ?? text);
      return [key, value];
    }),
  );
}

function notMultus(source: string): Result<never> {
  return failed(fault("CONFIG_INVALID", `${source}: none of its plugins is Multus (type multus or multus-shim)`));
}
