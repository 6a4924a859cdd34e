// The flags of Multus' thin entry point (cmd/thin_entrypoint of Multus 4.3), as settings of Plexus: an administrator's DaemonSet has them (MO-23).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { closest } from "./closest.ts";

/** The settings of Plexus that Multus' flags stand for. */
export interface MultusFlags {
  /** The node's directory of plugins, for `plexusctl install`. */
  readonly cniBin: string;
  /** The runtime's directory of network configurations. */
  readonly directory: string;
  /** The default network's file name in that directory; undefined: the first one. */
  readonly network: string | undefined;
  /** A configuration that the administrator wrote; undefined: one is made. */
  readonly configurationFile: string | undefined;
  readonly kubeconfig: string;
  /** Whether Plexus' configuration has the default network's name. */
  readonly takesName: boolean;
  /** Members of Plexus' configuration. */
  readonly members: Readonly<Record<string, string | boolean>>;
  /** A sentence for each flag that has no counterpart. */
  readonly notes: readonly string[];
}

/** The form of a flag's value, and its counterpart in Plexus. */
type Flag =
  | { readonly kind: "text" | "flag"; readonly member: string }
  | {
      readonly kind: "text" | "flag";
      readonly setting: "cniBin" | "directory" | "autoconfig" | "network" | "file" | "kubeconfig" | "name" | "force";
    }
  | { readonly kind: "text" | "flag"; readonly note: string };

const flags: Readonly<Record<string, Flag>> = {
  "cni-bin-dir": { kind: "text", setting: "cniBin" },
  "cni-conf-dir": { kind: "text", setting: "directory" },
  "cni-version": { kind: "text", member: "cniVersion" },
  "multus-conf-file": { kind: "text", setting: "file" },
  "multus-bin-file": { kind: "text", note: "plexusctl install copies Plexus' own shim" },
  "multus-cni-conf-dir": { kind: "text", member: "confDir" },
  "skip-multus-binary-copy": { kind: "flag", note: "leave plexusctl install out if the shim is on the node already" },
  "multus-kubeconfig-file-host": { kind: "text", setting: "kubeconfig" },
  "multus-master-cni-file-name": { kind: "text", setting: "network" },
  "namespace-isolation": { kind: "flag", member: "namespaceIsolation" },
  "global-namespaces": { kind: "text", member: "globalNamespaces" },
  "multus-autoconfig-dir": { kind: "text", setting: "autoconfig" },
  "multus-log-to-stderr": { kind: "flag", member: "logToStderr" },
  "multus-log-level": { kind: "text", member: "logLevel" },
  "multus-log-file": { kind: "text", member: "logFile" },
  "override-network-name": { kind: "flag", setting: "name" },
  "cleanup-config-on-exit": {
    kind: "flag",
    note: "plexusd removes the configuration when its DaemonSet is removed, and only then",
  },
  "skip-config-watch": {
    kind: "flag",
    note: "plexusd follows the default network's file only with --cni-config-dir; calls read it anew in any case",
  },
  "rename-conf-file": { kind: "flag", note: "Plexus' file sorts first, so the default network's file stays as it is" },
  "readiness-indicator-file": { kind: "text", member: "readinessindicatorfile" },
  "additional-bin-dir": { kind: "text", member: "binDir" },
  "skip-tls-verify": {
    kind: "flag",
    note: "write insecure-skip-tls-verify into the kubeconfig, and set kubernetes.allowInsecure",
  },
  "force-cni-version": { kind: "flag", setting: "force" },
};

/** Where the DaemonSet of Multus mounts the node's directories. */
const hostPrefix = /^\/host(?=\/)/;
const defaultDirectory = "/etc/cni/net.d";

/** Reads the flags. A path below `/host` becomes the node's path. Fault CONFIG_INVALID names the flag. */
export function readMultusFlags(args: readonly string[]): Result<MultusFlags> {
  const settings: Record<string, string> = {};
  const members: Record<string, string | boolean> = {};
  const notes: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = splitFlag(args[index] ?? "");
    const flag = name !== undefined && Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (name === undefined || flag === undefined) return unknownFlag(args[index] ?? "", name);
    // As pflag reads them: a flag without a value is true, and a text's value may be the next argument.
    const value = inline ?? (flag.kind === "flag" ? "true" : args[++index]);
    if (value === undefined) return invalid(`--${name}: its value is missing`);
    if (flag.kind === "flag" && value !== "true" && value !== "false")
      return invalid(`--${name}=${value}: must be true or false`);
    if ("member" in flag) members[flag.member] = flag.kind === "flag" ? value === "true" : value.replace(hostPrefix, "");
    else if ("setting" in flag) settings[flag.setting] = value.replace(hostPrefix, "");
    else if (value !== "false") notes.push(`--${name}: ${flag.note}`);
  }
  const { cniVersion } = members;
  if (settings["force"] === "true" && cniVersion === undefined) return invalid("--force-cni-version: --cni-version is missing");
  const directory = settings["directory"] ?? defaultDirectory;
  const autoconfig = settings["autoconfig"] ?? directory;
  if (autoconfig !== directory)
    notes.push(`--multus-autoconfig-dir: the default network is read from ${autoconfig}; put Plexus' file into ${directory}`);
  return ok({
    cniBin: settings["cniBin"] ?? "/opt/cni/bin",
    directory: autoconfig,
    network: settings["network"] === "" ? undefined : settings["network"],
    configurationFile: settings["file"] === "auto" ? undefined : settings["file"],
    kubeconfig: settings["kubeconfig"] ?? "/etc/cni/net.d/multus.d/multus.kubeconfig",
    takesName: settings["name"] === "true",
    // Empty texts and `false` are the entry point's defaults, which write no key. Its default of log-to-stderr is true.
    members: Object.fromEntries(
      Object.entries(members).filter(([key, value]) =>
        key === "logToStderr" ? value === false : value !== "" && value !== false,
      ),
    ),
    notes,
  });
}

function splitFlag(arg: string): readonly [name: string | undefined, value: string | undefined] {
  const [, name, value] = /^--([\w-]+)(?:=([\s\S]*))?$/.exec(arg) ?? [];
  return [name, value];
}

function unknownFlag(arg: string, name: string | undefined): Result<never> {
  const similar = name === undefined ? undefined : closest(name, Object.keys(flags));
  return invalid(
    `${quote(arg)} is no flag of Multus' thin entry point${similar === undefined ? "" : `; is --${similar} meant?`}`,
  );
}

function invalid(why: string): Result<never> {
  return failed(fault("CONFIG_INVALID", why));
}
