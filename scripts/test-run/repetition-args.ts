// The arguments of vitest for the repetition of failed files.

/** Options of vitest that take the next word as their value. */
const optionsWithValue = ["--project", "-t", "--testNamePattern", "--testTimeout", "--hookTimeout", "--maxWorkers"];

/**
 * The options of the first run: projects, limits of time and the filter of titles hold for the repetition too. The repetition has its own files and its
 * own number of workers.
 */
export function repetitionArgs(args: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const option = args[index] ?? "";
    if (!option.startsWith("-")) continue;
    const value = optionsWithValue.includes(option) ? [args[++index] ?? ""] : [];
    if (!option.startsWith("--maxWorkers")) kept.push(option, ...value);
  }
  return kept;
}
