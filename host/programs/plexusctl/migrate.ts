// plexusctl migrate: the values of Plexus' chart that mean the same as a node's Multus configuration.

import type { OutputForm } from "../../../src/command-line/command-spec.ts";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { migrationComments } from "../../../src/configuration/migration-text.ts";
import { migrateFromMultus } from "../../../src/configuration/multus-migration.ts";
import { readMultusSources } from "../../node/migrate/read-sources.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { onlyWith } from "../../node/command-line/common-options.ts";
import { jsonText, yamlText } from "../../node/command-line/printed.ts";
import type { CheckOptions } from "./migrate-check.ts";

/** Runs `plexusctl migrate`. */
export async function migrateCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readMigrateOptions(line);
  if ("wrong" in options) return options;
  const sources = await readMultusSources(options.sources);
  if (!sources.ok) return failure(sources.fault.msg);
  const migration = migrateFromMultus(sources.value);
  if (!migration.ok) return failure(migration.fault.msg);
  if (options.check !== undefined) {
    const { checkCommand } = await import("./migrate-check.ts");
    return checkCommand(migration.value, options.check, { ...line, output: options.form });
  }
  if (options.form === "json") return { stdout: `${jsonText(migration.value)}\n`, status: 0 };
  return { stdout: `${migrationComments(migration.value)}${await yamlText(migration.value.values)}`, status: 0 };
}

interface MigrateOptions {
  readonly sources: readonly string[];
  readonly form: OutputForm;
  readonly check: CheckOptions | undefined;
}

function readMigrateOptions(line: Invocation): MigrateOptions | CommandLineMistake {
  const isCheck = line.flags.has("check");
  const form = valueOf(line, "output") === undefined && isCheck ? "table" : line.output;
  if (!isCheck && form !== "json" && form !== "yaml")
    return { wrong: `-o ${form}: must be json or yaml; only --check has the others` };
  if (!isCheck) {
    const wrong = onlyWith(line, "--check", "kubeconfig", "objects", "strict", "cni-path");
    if (wrong !== undefined) return wrong;
  }
  const [kubeconfig, objects] = [valueOf(line, "kubeconfig"), valueOf(line, "objects")];
  if (isCheck && (objects === undefined) === (kubeconfig === undefined))
    return { wrong: "--check: give either --kubeconfig or --objects" };
  const sources = line.args.length === 0 ? ["/etc/cni/net.d"] : line.args;
  const from = kubeconfig === undefined ? (objects === undefined ? undefined : { objects }) : { kubeconfig };
  if (from === undefined) return { sources, form, check: undefined };
  if (objects === "-" && sources.includes("-")) return { wrong: "stdin can be Multus' configuration or the objects, not both" };
  const cniPath = valueOf(line, "cni-path") ?? "/opt/cni/bin";
  return { sources, form, check: { from, isStrict: line.flags.has("strict"), cniPath } };
}
