// The description of a command line as data: parsing, help, completion and the reference page come from it.

/** The forms of `-o`. */
export const outputForms = ["table", "wide", "json", "yaml", "name"] as const;
/** See `outputForms`. */
export type OutputForm = (typeof outputForms)[number];

/** The words that a shell offers in the place of a value: files, directories, or this list. */
export type Completion = "file" | "directory" | readonly string[];

/** An option, written `--name` or `--name VALUE`. */
export interface OptionSpec {
  readonly name: string;
  /** One letter, written `-o`. */
  readonly short?: string;
  /** Placeholder of the value in the help. Absent: the option is a flag. */
  readonly value?: string;
  readonly about: string;
  /** The value that counts without the option, as the help shows it. */
  readonly usual?: string;
  /** Whether the option may be repeated. */
  readonly repeats?: true;
  /** The valid values. Absent: any value. */
  readonly choices?: readonly string[];
  readonly completes?: Completion;
}

/** A command. Its name may have two words, such as `component pull`. */
export interface CommandSpec {
  readonly name: string;
  /** One line that begins with a verb, such as "lists all attachments". */
  readonly summary: string;
  /** The arguments as the help shows them, such as `[FILE]`; absent: none. */
  readonly synopsis?: string;
  /** Least and greatest number of arguments; absent: none. */
  readonly count?: readonly [least: number, greatest: number];
  readonly completes?: Completion;
  /** Further sentences of the help. */
  readonly details?: string;
  readonly options: readonly OptionSpec[];
  /** The forms of `-o`, the usual one first; absent: the command prints no data. */
  readonly forms?: readonly OutputForm[];
  /** The names that `-o name` prints, one a line. */
  readonly names?: string;
  /** The meaning of exit status 1 for this command. */
  readonly attention: string;
  /** Whether the arguments after the name belong to another program. */
  readonly isForeign?: true;
}

/** Options of every command. */
export const commonOptions: readonly OptionSpec[] = [
  { name: "no-color", about: "prints without colours; so does NO_COLOR=1, and an output that is no terminal" },
  { name: "help", short: "h", about: "shows this text" },
];

const formTexts: Readonly<Record<OutputForm, string>> = {
  table: "table (80 columns)",
  wide: "wide (a table without cut columns)",
  json: "json",
  yaml: "yaml",
  name: "name",
};

/** All options of the command: its own, `-o`, and the common ones. */
export function optionsOf({ options, forms, names }: CommandSpec): readonly OptionSpec[] {
  if (forms === undefined) return [...options, ...commonOptions];
  const named = names === undefined ? "" : `: ${names}`;
  const about = `the form of the output: ${forms.map((form) => formTexts[form]).join(", ")}${named}`;
  const [usual = "table"] = forms;
  const output: OptionSpec = { name: "output", short: "o", value: "FORM", about, usual, choices: forms };
  return [...options, output, ...commonOptions];
}
