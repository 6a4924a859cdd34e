// Packs a directory so that the same content gives the same bytes.

import { execa } from "execa";

/** The directory to pack. */
export interface PackInit {
  /** The directory that has `name`. */
  readonly directory: string;
  /** The directory or file to pack, and its name in the archive. */
  readonly name: string;
  /** The files' time, in seconds since 1970. */
  readonly epoch: number;
  /** The archive to write, `.tar.gz` or `.tgz`. */
  readonly archive: string;
}

/** Writes the archive with GNU tar and gzip: sorted names, one owner, one time, modes without the umask. Rejects with the reason. */
export async function pack({ directory, name, epoch, archive }: PackInit): Promise<void> {
  const same = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r,go-w,a+X", `--mtime=@${epoch}`];
  const tar = execa("tar", ["--sort=name", "--format=gnu", ...same, "-cf", "-", name], {
    cwd: directory,
    encoding: "buffer",
    buffer: false,
  });
  await tar.pipe("gzip", ["-n"], { stdout: { file: archive }, buffer: false });
}
