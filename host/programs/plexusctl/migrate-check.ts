// plexusctl migrate --check: definitions and pods that behave differently under Plexus than under Multus.

import { planFeatures } from "../../../features/list.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { MultusMigration } from "../../../src/configuration/multus-migration.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { checkMigration, type MigrationCheck } from "../../node/migrate/check-migration.ts";
import { readClusterFromApi } from "../../node/migrate/read-cluster.ts";
import { readClusterObjects } from "../../node/migrate/read-objects.ts";
import { administratorCredentials } from "./cluster-access/access-options.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { printed } from "../../node/command-line/printed.ts";
import { remedyLines } from "./finding-text.ts";

/** The options of `--check`. */
export interface CheckOptions {
  /** Path of the objects, where `-` is stdin; or path of a kubeconfig whose cluster has them. */
  readonly from: { readonly objects: string } | { readonly kubeconfig: string };
  /** Whether definitions are bound by the rules that hold without the profile `multus`. */
  readonly isStrict: boolean;
  readonly cniPath: string;
}

/** Maximum length of a line, in UTF-16 units. */
const maxLine = 1024;

/** Runs the check with the migrated configuration. Status 1: there is a difference. */
export async function checkCommand(
  { values }: MultusMigration,
  { from, isStrict, cniPath }: CheckOptions,
  line: Invocation,
): Promise<CommandResult> {
  const objects = await ("kubeconfig" in from
    ? readClusterFromApi(administratorCredentials(from.kubeconfig))
    : readClusterObjects(from.objects));
  if (!objects.ok) return failure(objects.fault.msg);
  const migrated = isJsonObject(values["config"]) ? values["config"] : {};
  const config = isStrict ? { ...migrated, profile: "compat" } : migrated;
  const check = await checkMigration(config, objects.value, cniPath, planFeatures);
  if (!check.ok) return failure(check.fault.msg);
  const { value } = check;
  const names = (): readonly string[] => value.differences.map(({ object }) => object);
  return {
    stdout: await printed({ value, text: () => checkText(value), names }, line),
    status: value.differences.length === 0 ? 0 : 1,
  };
}

function checkText({ definitions, pods, differences }: MigrationCheck): string {
  const lines = differences.flatMap(({ object, effect, why, remedy }) => [
    `${object} ${effect}: ${why}`,
    ...remedyLines(remedy, Infinity),
  ]);
  const head = `${definitions} definitions and ${pods} pods with networks: ${differences.length} differences`;
  return `${[head, ...lines].map((line) => inertLine(line, maxLine)).join("\n")}\n`;
}
