// The scope of `ovs` for a step: the facts of the running step that the capability needs.

import { memberText, parseDocument } from "../../../src/json/document.ts";
import { providedInterfaceId } from "../../../src/ovsdb/port-request.ts";
import { podStep } from "../bound-step.ts";
import type { Step } from "../step.ts";
import type { OvsScope } from "./scope.ts";

/** The scope of `ovs` for a step. `facts`: those of the call. */
export function ovsScopeOf(running: Step, facts: OvsScope["facts"]): OvsScope {
  const { step, network, grants, knownContainers, maxMs } = running;
  const { type, verb, attachment } = podStep(step);
  return {
    type,
    network,
    verb,
    attachment,
    grant: grants.ovs ?? {},
    facts,
    knownContainers,
    maxMs,
    providedInterfaceId: providedInterfaceIdOf(running),
  };
}

/**
 * The interface ID of the attachment's external port, as the engine put it into the step's configuration. A `runtimeConfig` that a definition's author
 * or another delegate wrote gives none, because its port may be somebody else's.
 */
function providedInterfaceIdOf({ step, origin, definition }: Step): string | undefined {
  if (origin === "delegate") return undefined;
  const { document } = step.plugin;
  const stdin = parseDocument(step.stdin, { what: "the step's configuration" });
  if (!stdin.ok) return undefined;
  const text = memberText(stdin.value, "runtimeConfig");
  if (definition !== undefined && text === memberText(document, "runtimeConfig")) return undefined;
  return providedInterfaceId(stdin.value.parsed);
}
