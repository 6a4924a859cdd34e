// plexusctl's command line.

import { isAbsolute } from "node:path";
import { parseArgs } from "node:util";

export const outputs = ["table", "wide", "json", "yaml"] as const;
export type Output = (typeof outputs)[number];

export interface ControlOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly output: Output;
  readonly statusSocket: string;
  readonly stateDir: string;
  /** Of `reconcile` and `uninstall`. */
  readonly dryRun: boolean;
  /** Of `explain`: Plexus' own configuration, a file or a directory that has it. Of `uninstall`: that directory. */
  readonly config: string;
  /** Of `explain` and `uninstall`: directories of plugins, colons between them. */
  readonly cniPath: string;
}

export const usage = `plexusctl: what Plexus does on this node

  plexusctl status             readiness, attachments, networks, pools, the last
                               failures and what to do about them
  plexusctl attachments        every attachment
  plexusctl reconcile          has the daemon take away now what no runtime
                               deletes; --dry-run: and only tell
  plexusctl explain [FILE|NAMESPACE/NAME]
                               each step of a network: what it is, declares, is
                               granted, and what it lacks; without a name, of
                               what the host configuration has
  plexusctl uninstall          gives the node back its other network, and, once
                               nothing is attached, removes Plexus' files;
                               --dry-run: and only tell
  plexusctl errors [KIND|CODE] what a fault means, and what to do about it
  plexusctl version

  -o, --output FORMAT          table (80 columns), wide, json or yaml
  --status-socket PATH         the daemon's (/run/plexus/status.sock)
  --state-dir PATH             cniDir, read where no daemon answers
                               (/var/lib/cni/plexus)
  --config PATH                for explain: Plexus' own configuration, or the
                               directory that has it; for uninstall: that
                               directory (/etc/cni/net.d)
  --cni-path DIR[:DIR…]        for explain and uninstall: where the plugins are
                               ($CNI_PATH, else /opt/cni/bin)
  --help

Exit status: 0; 1 where something needs attention (not ready, no daemon, an
attachment left behind, a deletion that fails; for explain: a step that would
not be loaded; for uninstall: something left to be done); 2 for a mistake in
the command.
`;

/** The options; `help`, or one line that says what is wrong. */
export function readOptions(args: readonly string[]): ControlOptions | "help" | { readonly wrong: string } {
  try {
    const { values, positionals } = parse(args);
    const [command, ...rest] = positionals;
    if (values.help === true || command === "help") return "help";
    if (command === undefined) return { wrong: "no command" };
    const output = outputs.find((each) => each === values.output);
    if (output === undefined) return { wrong: `-o ${values.output}: must be one of ${outputs.join(", ")}` };
    if (values["dry-run"] === true && !["reconcile", "uninstall"].includes(command))
      return { wrong: `--dry-run: ${command} changes nothing anyway` };
    for (const name of ["config", "cni-path"] as const) {
      if (values[name] !== undefined && !["explain", "uninstall"].includes(command))
        return { wrong: `--${name}: is for explain and uninstall only` };
    }
    for (const name of ["status-socket", "state-dir"] as const) {
      if (!isAbsolute(values[name])) return { wrong: `--${name} ${values[name]}: must be an absolute path` };
    }
    return {
      command,
      args: rest,
      output,
      statusSocket: values["status-socket"],
      stateDir: values["state-dir"],
      dryRun: values["dry-run"] === true,
      config: values.config ?? "/etc/cni/net.d",
      cniPath: values["cni-path"] ?? process.env["CNI_PATH"] ?? "/opt/cni/bin",
    };
  } catch (error) {
    // parseArgs says more than one sentence.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong };
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      output: { type: "string", short: "o", default: "table" },
      "status-socket": { type: "string", default: "/run/plexus/status.sock" },
      "state-dir": { type: "string", default: "/var/lib/cni/plexus" },
      "dry-run": { type: "boolean" },
      config: { type: "string" },
      "cni-path": { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
}
