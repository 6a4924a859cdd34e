// plexusctl's command line.

import { isAbsolute } from "node:path";
import { parseArgs } from "node:util";
import { readUidOption, uidOptionForm } from "../../../src/configuration/uid-option.ts";
import { defaultUids, type SandboxUids } from "../../../src/configuration/wasm-configuration.ts";

/** The values of `-o`. */
export const outputs = ["table", "wide", "json", "yaml"] as const;
/** See `outputs`. */
export type Output = (typeof outputs)[number];

/** plexusctl's command line with every default filled in. */
export interface ControlOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly output: Output;
  readonly statusSocket: string;
  readonly stateDir: string;
  /** For `reconcile` and `uninstall`: only report. */
  readonly dryRun: boolean;
  /** For `uninstall`: remove files although pods are attached. */
  readonly force: boolean;
  /** For `uninstall`: the daemon removes its network configuration once no pod needs Plexus. */
  readonly wait: boolean;
  /** For `uninstall --wait`: how long to wait for pods, in ms. */
  readonly timeoutMs: number;
  /**
   * For `uninstall`: the removal ends a minute after the last command with this option. With `--wait` the command ends as without it, else never.
   */
  readonly hold: boolean;
  /** For `uninstall --wait` and `--hold`: the runtime's directory, whose file of Plexus is removed if no daemon answers; undefined: none. */
  readonly cniConfigDir: string | undefined;
  /** For `uninstall`: ends the removal that `--wait` began. */
  readonly cancel: boolean;
  /** For `explain`: Plexus' own configuration, as a file or as its directory. For `uninstall`: that directory. */
  readonly config: string;
  /** For `explain` and `uninstall`: directories of plugins, separated by colons. */
  readonly cniPath: string;
  /** For `doctor`: whether to start sandbox processes and to try their jail. */
  readonly proveSandbox: boolean;
  /** For `doctor`: the level to prove; undefined: the daemon's. */
  readonly isolation: "process" | "strict" | undefined;
  readonly sandboxUids: SandboxUids;
}

/** The help text. */
export const usage = `plexusctl: shows and manages Plexus on this node

  plexusctl status             shows readiness, attachments, networks, address
                               pools, and the last failures with remedies
  plexusctl attachments        lists all attachments
  plexusctl reconcile          makes the daemon remove stale attachments and
                               leases now; --dry-run: only reports them
  plexusctl explain [FILE|NAMESPACE/NAME]
                               shows each step of a network: its plugin, and
                               which capabilities are declared, granted and
                               missing; without an argument, the networks of
                               the host configuration
  plexusctl doctor --prove-sandbox
                               starts sandbox processes, and tries each control
                               of their jail from inside
  plexusctl uninstall          deactivates Plexus' network configuration, and
                               removes Plexus' files once no pod is attached;
                               --dry-run: only reports; --force: removes the
                               files although attached pods need them for DEL
  plexusctl uninstall --wait   for a daemon that writes the configuration: new
                               pods get the default network only; once no pod
                               has other networks, or after --timeout, the
                               daemon removes the configuration; --cancel: new
                               pods get their networks again
  plexusctl install            installs Plexus on a node; --help: its options
  plexusctl configure          makes the configuration from the node's network;
                               --help: its options
  plexusctl migrate            prints the values of the chart that mean the same
                               as a Multus configuration; --help: its options
  plexusctl sysdump            writes one archive about this node, without
                               secrets; --help: its options
  plexusctl component COMMAND  pushes, pulls, verifies, saves, loads and lists
                               components as OCI artifacts: component --help
  plexusctl errors [KIND|CODE] shows meaning and remedy of an error
  plexusctl version            shows the installed version

  -o, --output FORMAT          table (80 columns), wide, json or yaml
  --status-socket PATH         the daemon's status socket
                               (/run/plexus/status.sock)
  --state-dir PATH             the state directory (cniDir), which is read if no
                               daemon answers (/var/lib/cni/plexus)
  --config PATH                for explain: Plexus' own configuration, a file or
                               its directory; for uninstall: that directory
                               (/etc/cni/net.d)
  --cni-path DIR[:DIR…]        for explain and uninstall: directories of plugins
                               ($CNI_PATH, else /opt/cni/bin)
  --timeout SECONDS            for uninstall --wait: 0 to 86400 (600)
  --cni-config-dir DIR         for uninstall --wait: the runtime's directory; if
                               no daemon answers for 20 s, Plexus' configuration
                               is removed from it
  --hold                       for uninstall: the removal ends a minute after
                               the last command with --hold; without --wait
                               the command runs until it is killed
  --isolation LEVEL            for doctor: process or strict (the daemon's)
  --sandbox-uids FIRST:COUNT   for doctor: as of plexusd
  --help                       shows this text

Exit status: 0: no action is needed. 1: an administrator has to act (daemon not
ready or absent, an abandoned attachment, a failing DEL; for explain: a step
that would not load; for uninstall: an unfinished removal; for doctor: a level
that does not hold). 2: a mistake in the
command line.
`;

/** The parsed options; `help`; or `wrong`, one line about the mistake. */
export function readOptions(args: readonly string[]): ControlOptions | "help" | { readonly wrong: string } {
  try {
    const { values, positionals } = parse(args);
    const [command, ...rest] = positionals;
    if (values.help === true || command === "help") return "help";
    if (command === undefined) return { wrong: "no command was given" };
    const output = outputs.find((each) => each === values.output);
    if (output === undefined) return { wrong: `-o ${values.output}: must be one of ${outputs.join(", ")}` };
    if (values["dry-run"] === true && !["reconcile", "uninstall"].includes(command))
      return { wrong: `--dry-run: only reconcile and uninstall have it; ${command} never changes anything` };
    if (values.force === true && command !== "uninstall") return { wrong: "--force: only uninstall has it" };
    for (const name of ["wait", "timeout", "cancel", "hold", "cni-config-dir"] as const) {
      if (values[name] !== undefined && command !== "uninstall") return { wrong: `--${name}: only uninstall has it` };
    }
    if (values.timeout !== undefined && values.wait !== true) return { wrong: "--timeout: only uninstall --wait has it" };
    const waits = values.wait === true || values.hold === true;
    if (values["cni-config-dir"] !== undefined && !waits)
      return { wrong: "--cni-config-dir: only uninstall --wait and --hold have it" };
    if (waits && (values.cancel === true || values["dry-run"] === true || values.force === true))
      return { wrong: "--wait and --hold go neither with --cancel nor with --dry-run nor with --force" };
    const seconds = Number(values.timeout ?? "600");
    if (!/^\d{1,5}$/.test(values.timeout ?? "600") || seconds > 86_400)
      return { wrong: `--timeout ${values.timeout}: must be a whole number from 0 to 86400` };
    for (const name of ["config", "cni-path"] as const) {
      if (values[name] !== undefined && !["explain", "uninstall"].includes(command))
        return { wrong: `--${name}: only explain and uninstall have it` };
    }
    for (const name of ["prove-sandbox", "isolation", "sandbox-uids"] as const) {
      if (values[name] !== undefined && command !== "doctor") return { wrong: `--${name}: only doctor has it` };
    }
    if (command === "doctor" && values["prove-sandbox"] !== true) return { wrong: "doctor: give --prove-sandbox" };
    const { isolation } = values;
    if (isolation !== undefined && isolation !== "process" && isolation !== "strict")
      return { wrong: `--isolation ${isolation}: must be process or strict` };
    const uids = values["sandbox-uids"];
    const sandboxUids = uids === undefined ? defaultUids : readUidOption(uids);
    if (sandboxUids === undefined) return { wrong: `--sandbox-uids ${uids}: must be ${uidOptionForm}` };
    for (const name of ["status-socket", "state-dir", "cni-config-dir"] as const) {
      if (!isAbsolute(values[name] ?? "/")) return { wrong: `--${name} ${values[name]}: must be an absolute path` };
    }
    return {
      command,
      args: rest,
      output,
      statusSocket: values["status-socket"],
      stateDir: values["state-dir"],
      dryRun: values["dry-run"] === true,
      force: values.force === true,
      wait: values.wait === true,
      timeoutMs: seconds * 1000,
      cancel: values.cancel === true,
      hold: values.hold === true,
      cniConfigDir: values["cni-config-dir"],
      config: values.config ?? "/etc/cni/net.d",
      cniPath: values["cni-path"] ?? process.env["CNI_PATH"] ?? "/opt/cni/bin",
      proveSandbox: values["prove-sandbox"] === true,
      isolation,
      sandboxUids,
    };
  } catch (error) {
    // The messages of parseArgs have several sentences; the first names the mistake.
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
      force: { type: "boolean" },
      wait: { type: "boolean" },
      timeout: { type: "string" },
      cancel: { type: "boolean" },
      hold: { type: "boolean" },
      "cni-config-dir": { type: "string" },
      config: { type: "string" },
      "cni-path": { type: "string" },
      "prove-sandbox": { type: "boolean" },
      isolation: { type: "string" },
      "sandbox-uids": { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
}
