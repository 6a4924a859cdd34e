// Why a file that the command line names cannot be read, with the remedy.

/** `hint`: which file to name, and how it is made. `front`: the command or the option, for the message. */
export function readFailure(path: string, error: unknown, { hint = "", front = "" } = {}): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const more = hint === "" ? "" : `: ${hint}`;
  if (code === "ENOENT") return `${front}there is no file ${path}${more}`;
  if (code === "EISDIR") return `${front}${path} is a directory: name a file in it${more}`;
  return `${front}${path}: ${error instanceof Error ? error.message : String(error)}`;
}
