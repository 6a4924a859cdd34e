// Reads a command line by its description. Every mistake names the nearest valid names.

import { type CommandSpec, type OptionSpec, optionsOf, type OutputForm, outputForms } from "./command-spec.ts";
import { nearestNames } from "./nearest-names.ts";

/** The arguments of a command, checked against its description. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly flags: ReadonlySet<string>;
  /** The values of each option in their order. Options that were not written are missing. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The form of `-o`; the command's usual one without it. */
  readonly output: OutputForm;
}

/** A mistake in a command line, as one line. */
export interface CommandLineMistake {
  readonly wrong: string;
}

/** The command of a command line and its arguments; a request for help; or a mistake. */
export type FoundCommand<C extends CommandSpec> =
  | { readonly command: C; readonly rest: readonly string[] }
  | { readonly help: C | string | undefined }
  | CommandLineMistake;

/**
 * Finds the command. `help` is the command whose help is wanted, a group such as `component`, or undefined for all commands. Options may stand
 * before the name.
 */
export function findCommand<C extends CommandSpec>(commands: readonly C[], args: readonly string[]): FoundCommand<C> {
  const { leading, rest } = leadingOptions(commands, args);
  const [first, second] = rest;
  const wantsHelp = isHelp([...leading, ...rest]);
  if (first === undefined) return wantsHelp ? { help: undefined } : { wrong: "no command was given" };
  if (first === "help") return helpFor(commands, rest.slice(1));
  const single = commands.find(({ name }) => name === first);
  if (single !== undefined) return chosen(single, [...leading, ...rest.slice(1)]);
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length === 0) return { wrong: `unknown command ${first}; ${nearestNames(first, topNames(commands))}` };
  const inGroup = group.find(({ name }) => name === `${first} ${second}`);
  if (inGroup !== undefined) return chosen(inGroup, [...leading, ...rest.slice(2)]);
  if (second === "help") return helpFor(commands, [first, ...rest.slice(2)]);
  if (second === undefined || second.startsWith("-")) {
    if (wantsHelp) return { help: first };
    return { wrong: `${first}: no command was given; ${lastWords(group).join(", ")} are valid` };
  }
  return { wrong: `${first} ${second}: no such command; ${nearestNames(second, lastWords(group))}` };
}

/** The first words of all commands, each once. */
export function topNames(commands: readonly CommandSpec[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
}

/** Reads the arguments after the command's name. After `--`, every argument is positional. */
export function readCommandLine(command: CommandSpec, args: readonly string[]): CommandLine | CommandLineMistake {
  const options = optionsOf(command);
  const positionals: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, readonly string[]>();
  let next = 0;
  for (let arg = args[next++]; arg !== undefined; arg = args[next++]) {
    if (arg === "--") {
      // No spread: a call cannot have any number of arguments.
      for (; next < args.length; next++) positionals.push(args[next] ?? "");
    } else if (arg.startsWith("-") && arg !== "-") {
      const { written, inline } = splitOption(arg);
      const option = optionNamed(options, written);
      if (option === undefined) {
        const valid = options.map(({ name }) => `--${name}`);
        return { wrong: `unknown option ${written}; ${nearestNames(written, valid)}` };
      }
      const { name, value: placeholder, choices, repeats } = option;
      if (placeholder === undefined) {
        if (inline !== undefined) return { wrong: `--${name} takes no value; ${inline} is one` };
        flags.add(name);
      } else {
        const value = inline ?? args[next++];
        if (value === undefined) return { wrong: `${written}: its value ${placeholder} is missing` };
        if (choices !== undefined && !choices.includes(value))
          return { wrong: `${written} ${value}: must be one of ${choices.join(", ")}` };
        values.set(name, repeats === true ? [...(values.get(name) ?? []), value] : [value]);
      }
    } else {
      positionals.push(arg);
    }
  }
  const excess = wrongCount(command, positionals);
  if (excess !== undefined) return { wrong: excess };
  const wanted = values.get("output")?.[0] ?? command.forms?.[0];
  return { args: positionals, flags, values, output: outputForms.find((form) => form === wanted) ?? "table" };
}

/** The last value of an option; undefined if the option was not written. */
export function valueOf({ values }: CommandLine, name: string): string | undefined {
  return values.get(name)?.at(-1);
}

function wrongCount({ name, synopsis = "", count: [least, greatest] = [0, 0] }: CommandSpec, args: readonly string[]) {
  if (args.length < least) return `${name} takes ${synopsis}; ${countText(args.length)} given`;
  const excess = args[greatest];
  if (excess === undefined) return undefined;
  if (greatest === 0) return `${name} takes no argument; ${excess} is one`;
  const most = greatest === 1 ? "one argument" : `${greatest} arguments`;
  return `${name} takes ${most}, ${synopsis}; ${excess} is one too many`;
}

function countText(count: number): string {
  return count === 1 ? "1 argument was" : `${count === 0 ? "no" : count} arguments were`;
}

function chosen<C extends CommandSpec>(command: C, rest: readonly string[]): FoundCommand<C> {
  return command.isForeign !== true && isHelp(rest) ? { help: command } : { command, rest };
}

function isHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--help" || arg === "-h");
}

function helpFor<C extends CommandSpec>(commands: readonly C[], [first, second]: readonly string[]): FoundCommand<C> {
  if (first === undefined || first.startsWith("-")) return { help: undefined };
  const name = second === undefined || second.startsWith("-") ? first : `${first} ${second}`;
  const command = commands.find((each) => each.name === name) ?? commands.find((each) => each.name === first);
  if (command !== undefined) return { help: command };
  if (commands.some((each) => each.name.startsWith(`${name} `))) return { help: name };
  return { wrong: `unknown command ${name}; ${nearestNames(first, topNames(commands))}` };
}

/** The options before the command's name, with their values, and the rest. Any command's option may stand there. */
function leadingOptions(commands: readonly CommandSpec[], args: readonly string[]) {
  const options = commands.flatMap(optionsOf);
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? "";
    if (!arg.startsWith("-") || arg === "-" || arg === "--") break;
    const { written, inline } = splitOption(arg);
    const takesNext = inline === undefined && optionNamed(options, written)?.value !== undefined;
    index += takesNext ? 2 : 1;
  }
  return { leading: args.slice(0, index), rest: args.slice(index) };
}

/** The option that is written so: `--name`, or its short form. */
export function optionNamed(options: readonly OptionSpec[], written: string): OptionSpec | undefined {
  return options.find(({ name, short }) => written === `--${name}` || (short !== undefined && written === `-${short}`));
}

/** `--name=VALUE` and `-oVALUE` have their value inline. */
function splitOption(arg: string): { readonly written: string; readonly inline: string | undefined } {
  if (!arg.startsWith("--")) {
    const value = arg.slice(2).replace(/^=/, "");
    return { written: arg.slice(0, 2), inline: arg.length > 2 ? value : undefined };
  }
  const at = arg.indexOf("=");
  return at === -1 ? { written: arg, inline: undefined } : { written: arg.slice(0, at), inline: arg.slice(at + 1) };
}

function lastWords(commands: readonly CommandSpec[]): readonly string[] {
  return commands.map(({ name }) => name.slice(name.indexOf(" ") + 1));
}
