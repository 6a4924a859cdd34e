// Reads a command's arguments. Every mistake names the nearest valid option.

import { closest } from "../../../src/configuration/closest.ts";
import { type Command, CommandError, type CommandLine, exitCode } from "./command.ts";

/** Throws a CommandError of code `usage` that names the mistake. After `--`, every argument is positional. */
export function readCommandLine(command: Command, args: readonly string[]): CommandLine {
  const positionals: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positionals.push(...rest.splice(0));
    } else if (arg.startsWith("-") && arg !== "-") {
      const [written = "", inline] = splitOnce(arg);
      const key = written.replace(/^--?/, "");
      const option = command.options.find((each) => (written.startsWith("--") ? each.name : (each.short ?? each.name)) === key);
      const name = option?.name ?? key;
      if (option === undefined) throw usageError(command, unknownOption(command, written, name));
      if (option.value === undefined) {
        if (inline !== undefined) throw usageError(command, `--${name} takes no value`);
        flags.add(name);
      } else {
        const value = inline ?? rest.shift();
        if (value === undefined) throw usageError(command, `--${name} needs a value: --${name}=${option.value}`);
        values.set(name, value);
      }
    } else {
      positionals.push(arg);
    }
  }
  const [least, greatest] = command.positionals;
  if (positionals.length < least) throw usageError(command, `an argument is missing: ${command.usage}`);
  if (positionals.length > greatest) throw usageError(command, `unexpected argument ${positionals[greatest]}`);
  return { positionals, flags, values };
}

/** The text after "unknown": the nearest valid name, or all of them. */
export function unknown(what: string, written: string, name: string, valid: readonly string[]): string {
  const nearest = closest(name, valid);
  const help = nearest === undefined ? `valid: ${valid.join(", ")}` : `did you mean ${nearest}?`;
  return `unknown ${what} ${written}; ${help}`;
}

function unknownOption({ options }: Command, written: string, name: string): string {
  const valid = [...options.map((each) => `--${each.name}`), "--help"];
  return unknown("option", written, `--${name}`, valid);
}

function usageError(command: Command, message: string): CommandError {
  return new CommandError(`${command.name}: ${message} (plexus-delegate ${command.name} --help)`, exitCode.usage);
}

function splitOnce(arg: string): string[] {
  const at = arg.indexOf("=");
  return at === -1 ? [arg] : [arg.slice(0, at), arg.slice(at + 1)];
}
