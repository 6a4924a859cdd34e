// The report of the tables that one feature has written into the network namespaces of a node's pods, as the daemon answers it to plexusctl.

import { boundedJson } from "../json/bounded-json.ts";
import { isJsonObject } from "../json/document.ts";

/** The table of a pod. */
export interface PodTable {
  /** `namespace/name`. */
  readonly pod: string;
  /** False: the daemon has not written the pod's table since its start. */
  readonly isKnown: boolean;
  /** The reason why the last work for the pod failed. */
  readonly failure?: string | undefined;
  /** The part of the last work that was not done, and that another place holds. */
  readonly shortfall?: string | undefined;
}

/** The report. `T` has what the feature's tables have. */
export interface NodeTables<T> {
  readonly apiVersion: "plexus/v1";
  readonly kind: string;
  /** Whether a configuration of the node has the feature's key. */
  readonly isOn: boolean;
  readonly pods: readonly (PodTable & T)[];
}

/** Makes the report, with the pods sorted by their names. */
export function nodeTables<T>(kind: string, isOn: boolean, pods: readonly (PodTable & T)[]): NodeTables<T> {
  return {
    apiVersion: "plexus/v1",
    kind,
    isOn,
    pods: pods.toSorted((one, other) => (one.pod < other.pod ? -1 : Number(one.pod > other.pod))),
  };
}

/** Reads a report of this kind; undefined for another text. `hasTable` checks the feature's own members. */
export function readNodeTables<T>(
  text: string,
  kind: string,
  hasTable: (pod: Readonly<Record<string, unknown>>) => boolean,
): NodeTables<T> | undefined {
  const isReport = (value: unknown): value is NodeTables<T> => {
    if (!isJsonObject(value) || value["kind"] !== kind || typeof value["isOn"] !== "boolean") return false;
    const { pods } = value;
    return Array.isArray(pods) && pods.every((each) => isJsonObject(each) && typeof each["pod"] === "string" && hasTable(each));
  };
  const report = boundedJson(text);
  return isReport(report) ? report : undefined;
}
