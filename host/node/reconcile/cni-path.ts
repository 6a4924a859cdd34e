// Comparison of the agent's `CNI_PATH` with that of an attachment.

/** Whether `wide` contains the directories of `path` in the same order; other directories may stand between them. */
export function covers(wide: string, path: string): boolean {
  const left = directoriesOf(path);
  for (const directory of directoriesOf(wide)) if (directory === left[0]) left.shift();
  return left.length === 0;
}

function directoriesOf(path: string): string[] {
  const directories = path.split(":").filter((directory) => directory !== "");
  return directories.map((directory) => directory.replace(/(?<=.)\/+$/u, ""));
}
