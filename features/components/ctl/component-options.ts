// The command line of `plexusctl component`.

import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import type { Invocation } from "../../../host/node/command-line/command.ts";
import { cniPathOf, configOf } from "../../../host/node/command-line/common-options.ts";

/** The command line with every default filled in. */
export interface ComponentOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** For `pull`: a file with the list of components. */
  readonly list: string | undefined;
  readonly lock: string;
  /** For `pull`: the plugin directory. */
  readonly to: string;
  /** For `pull`: the plugin type; undefined: the last part of the repository's name. */
  readonly type: string | undefined;
  /** For `pull` and `verify`: public keys, as `[NAME=]FILE`. */
  readonly keys: readonly string[];
  readonly force: boolean;
  readonly credentials: string | undefined;
  readonly plainHttp: readonly string[];
  readonly authority: string | undefined;
  /** For `ls`: Plexus' own configuration, and the directories of plugins. */
  readonly config: string;
  readonly cniPath: string;
  /** The form of the output. */
  readonly line: Invocation;
}

/** The options of one command of `plexusctl component`, or the mistake in them. */
export function readComponentOptions(command: string, line: Invocation): ComponentOptions | CommandLineMistake {
  const { args, values, flags } = line;
  const list = valueOf(line, "list");
  if (command === "pull" && (args.length === 0) === (list === undefined))
    return { wrong: "component pull takes either REF or --list FILE" };
  const keys = values.get("key") ?? [];
  if (command === "verify" && keys.length === 0)
    return { wrong: "component verify needs the option --key, with FILE or NAME=FILE" };
  if (command === "pull" && (keys.length > 1 || (keys.length > 0 && list !== undefined)))
    return { wrong: "component pull takes one --key, with REF; a list has its own keys" };
  return {
    command,
    args,
    list,
    lock: valueOf(line, "lock") ?? "/etc/plexus/components.lock.json",
    to: valueOf(line, "to") ?? "/opt/cni/bin",
    type: valueOf(line, "type"),
    keys,
    force: flags.has("force"),
    credentials: valueOf(line, "credentials"),
    plainHttp: values.get("plain-http") ?? [],
    authority: valueOf(line, "ca"),
    config: configOf(line),
    cniPath: cniPathOf(line),
    line,
  };
}
