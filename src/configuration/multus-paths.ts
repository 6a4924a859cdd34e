// Paths in Multus' configuration. Multus' containers see the node's directories below `/host`, and a thick Multus' daemon the whole node
// below `chrootDir`.

const mountedAt = "/host";

/** The path as the node sees it, without a slash at its end. */
export function onNode(path: string, chrootDir: string): string {
  const prefixes = [chrootDir, mountedAt].map(withoutSlash).filter((each) => each !== "");
  const prefix = prefixes.find((each) => path.startsWith(`${each}/`)) ?? "";
  return withoutSlash(path.slice(prefix.length));
}

/** The path of the directory that has the file. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The file's name. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}
