// Names of files in a dump.

/** Maximum length of a folder and a name: tar allows 100 bytes with the dump's own folder. */
const maxName = 80;

/** The name for a file of the node: its path with `_` in place of `/`; of a long path its end. */
export function archiveName(folder: string, path: string): string {
  const name = path.replace(/^\//, "").replaceAll(/[^\w.-]/g, "_");
  return `${folder}/${name.slice(-(maxName - folder.length))}`;
}
