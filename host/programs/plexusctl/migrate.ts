// plexusctl migrate: the values of Plexus' chart that mean the same as a node's Multus configuration.

import { parseArgs } from "node:util";
import { migrationComments } from "../../../src/configuration/migration-text.ts";
import { migrateFromMultus } from "../../../src/configuration/multus-migration.ts";
import { readMultusSources } from "../../node/migrate/read-sources.ts";
import type { CommandResult } from "./commands.ts";

/** The help text. */
export const migrateUsage = `plexusctl migrate: Helm values that mean the same as Multus' configuration

  plexusctl migrate [FILE|DIRECTORY|-]...
                          prints the values; keys without a counterpart are
                          comments, each with its reason. FILE: 00-multus.conf,
                          00-multus.conflist, daemon-config.json, or a ConfigMap
                          with such a file; -: stdin; DIRECTORY: its first
                          configuration with Multus (/etc/cni/net.d)
  -o, --output FORMAT     yaml or json (yaml)
  --help                  shows this text

Exit status: 0. 1: an unreadable configuration. 2: a mistake in the
command line.
`;

const formats = ["yaml", "json"] as const;

/** Runs `plexusctl migrate` with the arguments after the command's name. */
export async function migrateCommand(args: readonly string[]): Promise<CommandResult> {
  const options = readMigrateOptions(args);
  if (options === "help") return { stdout: migrateUsage, status: 0 };
  if ("wrong" in options)
    return { stdout: "", stderr: `${options.wrong} (plexusctl migrate --help lists the options)`, status: 2 };
  const sources = await readMultusSources(options.sources);
  if (!sources.ok) return { stdout: "", stderr: sources.fault.msg, status: 1 };
  const migration = migrateFromMultus(sources.value);
  if (!migration.ok) return { stdout: "", stderr: migration.fault.msg, status: 1 };
  if (options.format === "json") return { stdout: `${JSON.stringify(migration.value, undefined, 2)}\n`, status: 0 };
  const { stringify } = await import("yaml");
  return { stdout: `${migrationComments(migration.value)}${stringify(migration.value.values)}`, status: 0 };
}

interface MigrateOptions {
  readonly sources: readonly string[];
  readonly format: (typeof formats)[number];
}

function readMigrateOptions(args: readonly string[]): MigrateOptions | "help" | { readonly wrong: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: "string", short: "o", default: "yaml" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) return "help";
    const format = formats.find((each) => each === values.output);
    if (format === undefined) return { wrong: `-o ${values.output}: must be yaml or json` };
    const sources = positionals.length === 0 ? ["/etc/cni/net.d"] : positionals;
    return { sources, format };
  } catch (error) {
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}
