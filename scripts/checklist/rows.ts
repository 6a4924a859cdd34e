// The rows of the checklist by section. Core rows must be held before Plexus may replace Multus on a node.

import { claims } from "./rows/claims.ts";
import { decisions } from "./rows/decisions.ts";
import { delegates } from "./rows/delegates.ts";
import { externalPorts } from "./rows/external-ports.ts";
import { field } from "./rows/field.ts";
import { libcni } from "./rows/libcni.ts";
import { multusAnnotations, multusConfiguration, multusOperation } from "./rows/multus.ts";
import { networkApi } from "./rows/network-api.ts";
import { probes } from "./rows/probes.ts";
import { podNetworks } from "./rows/podnetworks.ts";
import { policies } from "./rows/policies.ts";
import { adversarial, runtimes } from "./rows/runtime.ts";
import { linkWatch } from "./rows/link-watch.ts";
import { services } from "./rows/services.ts";
import { deviceInformation, npwg10, npwgLater } from "./rows/specification.ts";

export interface Row {
  readonly id: string;
  /** The requirement as one sentence. */
  readonly asks: string;
  /** Whether a replacement of Multus must hold the row. */
  readonly core: boolean;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The required percentage of held core rows. */
export const coreGoal = 95;

const all = (): boolean => true;
const none = (): boolean => false;
const coreOperation = new Set(Array.from({ length: 14 }, (_, index) => `MO-${String(index + 1).padStart(2, "0")}`));
const coreAnnotations = new Set(["MA-01", "MA-02", "MA-06", "MA-07", "MA-08", "MA-09", "MA-10"]);

export const sections: readonly Section[] = [
  section("NPWG 1.0", npwg10, all),
  section("NPWG 1.1 to 1.3", npwgLater, all),
  section("Device information 1.1.0", deviceInformation, all),
  section("Decisions", decisions, none),
  section("Multus: configuration", multusConfiguration, all),
  section("Multus: annotations", multusAnnotations, (id) => coreAnnotations.has(id)),
  section("Multus: operation", multusOperation, (id) => coreOperation.has(id)),
  section("Runtimes", runtimes, none),
  section("Adversarial input", adversarial, none),
  section("CNI and libcni", libcni, none),
  section("PodNetworks (KEP-3698)", podNetworks, none),
  section("CRI Network API", networkApi, none),
  section("External ports (Kuryr)", externalPorts, none),
  section("Policies on further networks", policies, none),
  section("Services on further networks", services, none),
  section("Watched links", linkWatch, none),
  section("Networks as claims", claims, none),
  section("The field", field, none),
  section("Addresses on the wire", probes, none),
  section("Delegates in place of the reference plugins", delegates, none),
];

/** A section of rows; `isCore` tells its core rows. */
export function section(title: string, rows: Readonly<Record<string, string>>, isCore: (id: string) => boolean): Section {
  return { title, rows: Object.entries(rows).map(([id, asks]) => ({ id, asks, core: isCore(id) })) };
}
