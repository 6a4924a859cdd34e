// What a delegate may call by the capability `delegation`: never Plexus itself, and only the native plugins that its network's definition may use.

import { isPlexusName, plexusTypeIn } from "../../../src/configuration/refuse-self.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { delegatedPluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import type { Step } from "../../capabilities/step.ts";
import type { CallContext } from "../call/call-context.ts";

/**
 * The fault of a delegate that would call Plexus, directly or through a native plugin's configuration, or a native plugin that the
 * network's definition may not use.
 */
export async function delegatedCallFault(
  { configuration, delegatedPlugins }: Pick<CallContext, "configuration" | "delegatedPlugins">,
  { step: { plugin, stdin }, definition }: Pick<Step, "step" | "definition">,
): Promise<Fault | undefined> {
  const { type, definitions } = configuration;
  const document = parseDocument(stdin, { what: `configuration for plugin ${plugin.type}` });
  if (!document.ok) return document.fault;
  const { parsed } = document.value;
  const plexusType = isPlexusName(plugin.type, { type }) ? plugin.type : plexusTypeIn(parsed, { type });
  if (plexusType !== undefined)
    return fault("CONFIG_INVALID", `type "${plexusType}" can't be called by a delegate: it would be plexus itself`);
  if (definition === undefined) return undefined;
  const ipamType = ipamTypeIn(parsed);
  const isIpamComponent = ipamType !== undefined && (await delegatedPlugins.find(ipamType)).what === "component";
  const isComponent = (each: string): boolean => each === ipamType && isIpamComponent;
  return delegatedPluginRefusal(definitions, definition, { type: plugin.type, configuration: parsed, isComponent });
}

function ipamTypeIn({ ipam }: Readonly<Record<string, unknown>>): string | undefined {
  const type = isJsonObject(ipam) ? ipam["type"] : undefined;
  return typeof type === "string" ? type : undefined;
}
