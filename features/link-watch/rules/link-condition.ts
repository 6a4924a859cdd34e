// The condition of a link in its entry of the pod's network status (NPWG 5.3: an extension's key begins with a reverse domain name).

import { boundedJson } from "../../../src/json/bounded-json.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { LinkFaultKind } from "./judge-link.ts";

/** The key in an entry of the status. Without a fault the entry has no such key. */
export const conditionKey = "dev.plexus.condition";

/** The condition, in the form of Kubernetes' conditions. */
export interface LinkCondition {
  readonly type: "LinkLost";
  readonly status: "True";
  readonly reason: LinkFaultKind;
  readonly message: string;
  /** ISO 8601. */
  readonly lastTransitionTime: string;
}

/** The conditions of a pod's links by interface. */
export type LinkConditions = ReadonlyMap<string, LinkCondition>;

/** The status with exactly these conditions; undefined if it has them already, or is no status. The time of a condition that stays is kept. */
export function withConditions(status: string, conditions: LinkConditions): string | undefined {
  const entries = boundedJson(status);
  if (!Array.isArray(entries)) return undefined;
  let isChanged = false;
  const next = entries.map((entry: unknown) => {
    if (!isJsonObject(entry)) return entry;
    const { [conditionKey]: before, ...rest } = entry;
    const name = entry["interface"];
    const wanted = typeof name === "string" ? conditions.get(name) : undefined;
    if (wanted === undefined && before === undefined) return entry;
    if (wanted !== undefined && isSame(before, wanted)) return entry;
    isChanged = true;
    return wanted === undefined ? rest : { ...rest, [conditionKey]: wanted };
  });
  return isChanged ? JSON.stringify(next) : undefined;
}

function isSame(before: unknown, { reason, message }: LinkCondition): boolean {
  return isJsonObject(before) && before["reason"] === reason && before["message"] === message;
}
