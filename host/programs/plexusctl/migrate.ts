// plexusctl migrate: the values of Plexus' chart that mean the same as a node's Multus configuration.

import { parseArgs } from "node:util";
import { migrationComments } from "../../../src/configuration/migration-text.ts";
import { migrateFromMultus } from "../../../src/configuration/multus-migration.ts";
import { readMultusSources } from "../../node/migrate/read-sources.ts";
import type { CommandResult } from "./commands.ts";
import type { CheckOptions } from "./migrate-check.ts";

/** The help text. */
export const migrateUsage = `plexusctl migrate: Helm values that mean the same as Multus' configuration

  plexusctl migrate [FILE|DIRECTORY|-]...
                          prints the values; keys without a counterpart are
                          comments, each with its reason. FILE: 00-multus.conf,
                          00-multus.conflist, daemon-config.json, or a ConfigMap
                          with such a file; -: stdin; DIRECTORY: its first
                          configuration with Multus (/etc/cni/net.d)
  plexusctl migrate --check [FILE|DIRECTORY|-]...
                          lists NetworkAttachmentDefinitions and pods that
                          behave differently with these values, and why
  --kubeconfig FILE       for --check: the cluster whose API has them; needs the
                          right to list both
  --objects FILE|DIRECTORY|-
                          for --check, instead: what \`kubectl get pods,network-attachment-
                          definitions -A -o json\` prints
  --strict                for --check: as without profile "multus", so that
                          rules for definitions apply
  --cni-path DIR[:DIR…]   for --check: directories of plugins (/opt/cni/bin)
  -o, --output FORMAT     yaml, or json (yaml; for --check: table or json)
  --help                  shows this text

Exit status: 0. 1: an unreadable configuration; for --check: a difference.
2: a mistake in the command line.
`;

const formats = ["yaml", "json", "table"] as const;

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
  if (options.check !== undefined) {
    const { checkCommand } = await import("./migrate-check.ts");
    return checkCommand(migration.value, options.check, options.format === "json" ? "json" : "table");
  }
  if (options.format === "json") return { stdout: `${JSON.stringify(migration.value, undefined, 2)}\n`, status: 0 };
  const { stringify } = await import("yaml");
  return { stdout: `${migrationComments(migration.value)}${stringify(migration.value.values)}`, status: 0 };
}

interface MigrateOptions {
  readonly sources: readonly string[];
  readonly format: (typeof formats)[number];
  readonly check: CheckOptions | undefined;
}

function readMigrateOptions(args: readonly string[]): MigrateOptions | "help" | { readonly wrong: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        check: { type: "boolean" },
        kubeconfig: { type: "string" },
        objects: { type: "string" },
        "cni-path": { type: "string" },
        strict: { type: "boolean" },
        output: { type: "string", short: "o" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) return "help";
    const isCheck = values.check === true;
    const { kubeconfig, objects, output = isCheck ? "table" : "yaml" } = values;
    const format = formats.find((each) => each === output && (each === "json" || (each === "table") === isCheck));
    if (format === undefined) return { wrong: `-o ${output}: must be json or ${isCheck ? "table" : "yaml"}` };
    for (const name of ["kubeconfig", "objects", "strict", "cni-path"] as const)
      if (values[name] !== undefined && !isCheck) return { wrong: `--${name}: only --check has it` };
    if (isCheck && (objects === undefined) === (kubeconfig === undefined))
      return { wrong: "--check: give either --kubeconfig or --objects" };
    const sources = positionals.length === 0 ? ["/etc/cni/net.d"] : positionals;
    const from = kubeconfig === undefined ? (objects === undefined ? undefined : { objects }) : { kubeconfig };
    if (from === undefined) return { sources, format, check: undefined };
    if (objects === "-" && sources.includes("-")) return { wrong: "stdin can be Multus' configuration or the objects, not both" };
    const cniPath = values["cni-path"] ?? "/opt/cni/bin";
    return { sources, format, check: { from, isStrict: values.strict === true, cniPath } };
  } catch (error) {
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}
