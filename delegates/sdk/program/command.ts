// The form of a command of `plexus-delegate`, and of its command line.

/** An option of a command, written `--name` or `--name=VALUE`. */
export interface OptionSpec {
  readonly name: string;
  /** One letter, written `-o`. */
  readonly short?: string;
  /** Placeholder of the value in the help. Absent: the option is a flag. */
  readonly value?: string;
  readonly about: string;
}

/** A parsed command line, checked against the command's options. */
export interface CommandLine {
  readonly positionals: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
}

/** The streams of a command. */
export interface Output {
  /** Writes one line of the command's answer to stdout. */
  readonly say: (line: string) => void;
  /** Writes one line of diagnosis to stderr. */
  readonly warn: (line: string) => void;
  /** True: stdout may have colours. It is a terminal, and `NO_COLOR` is empty or absent. */
  readonly colour: boolean;
}

/** Exit codes, as in `plexus-delegate --help` and README.md. */
export const exitCode = {
  success: 0,
  /** The delegate has a defect: it does not build, a vector fails, a node would refuse it. */
  defect: 1,
  /** The command line has a mistake: unknown command or option, missing argument. */
  usage: 2,
  /** A requirement of the machine is missing: a newer Node, a file that cannot be written. */
  machine: 3,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** An error whose message is for the author, with the exit code of the program. */
export class CommandError extends Error {
  readonly code: ExitCode;

  constructor(message: string, code: ExitCode = exitCode.defect, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A command. Its module loads the compiler and the sandbox in `run`, so that help needs neither. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The arguments after the command's name, such as `[DIR]`. */
  readonly usage: string;
  /** Further lines of the command's help. */
  readonly details?: string;
  readonly options: readonly OptionSpec[];
  /** Least and greatest number of positional arguments. */
  readonly positionals: readonly [least: number, greatest: number];
  /** Runs the command. A CommandError ends the program with its code; any other error ends it with `defect`. */
  readonly run: (line: CommandLine, output: Output) => Promise<ExitCode>;
}
