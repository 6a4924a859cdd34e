// Colours for a terminal. Only the marks of a text are coloured, so that columns and line breaks do not depend on it.

const red = 31;
const green = 32;
const yellow = 33;

/** The marks. A mark in a foreign text has its colour, too: that is harmless. */
const marks: readonly (readonly [pattern: RegExp, colour: number])[] = [
  [/^(?<lead>\s*)(?<mark>ok)(?= {2})/gm, green],
  [/^(?<lead>\s*)(?<mark>NO|error)(?= {2})/gm, red],
  [/^(?<lead>\s*)(?<mark>missing|warning)(?= {2})/gm, yellow],
  [/^(?<lead>\S+:\d+:\d+: )(?<mark>error)(?=: )/gm, red],
  [/^(?<lead>\S+:\d+:\d+: )(?<mark>warning)(?=: )/gm, yellow],
  [/^(?<lead>\s*)(?<mark>PROBLEM:|Problem:|Refused)/gm, red],
  [/^(?<lead>\s*)(?<mark>Warning:|Note:)/gm, yellow],
  [/(?<lead>)(?<mark>NOT READY|NEED ATTENTION|DOES NOT HOLD|would NOT load|NOT GRANTED)/g, red],
];

/** The text with coloured marks. */
export function coloured(text: string): string {
  return marks.reduce((each, [pattern, colour]) => each.replaceAll(pattern, `$<lead>\u001B[${colour}m$<mark>\u001B[0m`), text);
}

/** Whether a stream with this environment may have colours: https://no-color.org. */
export function mayColour(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  return isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}
