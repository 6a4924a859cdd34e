// Translates Multus' configuration into the values of Plexus' chart that mean the same, and names each key without a counterpart.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { MigrationDraft } from "./migration-draft.ts";
import { migrationRules } from "./migration-rules.ts";
import type { MultusConfiguration } from "./multus-configuration.ts";
import { readTemplate } from "./written-configuration.ts";

/** A key of Multus that the values do not express. */
export interface KeyWithoutCounterpart {
  readonly key: string;
  /** The file with the key. */
  readonly source: string;
  /** The end of a sentence: why, and what to do instead. */
  readonly reason: string;
}

/** The result of a migration. */
export interface MultusMigration {
  /** Values of the chart `deploy/helm/plexus`. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Keys that have no counterpart. */
  readonly without: readonly KeyWithoutCounterpart[];
}

/** The name that Multus gives its network unless `overrideNetworkName` or the administrator gives another. */
const defaultName = "multus-cni-network";

/**
 * The chart's values. A daemon's configuration replaces keys of the CNI configuration, as in Multus. Fault CONFIG_INVALID: no
 * configuration, or a value that Plexus cannot have.
 */
export function migrateFromMultus(configurations: readonly MultusConfiguration[]): Result<MultusMigration> {
  if (configurations.length === 0) return failed(fault("CONFIG_INVALID", "no configuration of Multus was given"));
  const draft = new MigrationDraft(configurations);
  const without: KeyWithoutCounterpart[] = [];
  // A runtime finds its pods by the network's name.
  draft.set("config", "name", defaultName);
  // Multus lets every definition do everything, and also passes requested addresses in CNI_ARGS.
  draft.set("config", "profile", "multus");
  draft.set("config", "legacyCniArgs", true);
  for (const [key, { value, source }] of draft.keys) {
    const rule = Object.hasOwn(migrationRules, key) ? migrationRules[key] : undefined;
    const reason = rule === undefined ? "Multus has no such key either" : rule(value, draft);
    if (reason !== undefined) without.push({ key, source, reason });
  }
  const values = draft.values();
  const template = readTemplate(JSON.stringify(values["config"]), "Multus' configuration");
  if (!template.ok) return failed(fault("CONFIG_INVALID", template.fault.msg));
  return ok({ values, without });
}
