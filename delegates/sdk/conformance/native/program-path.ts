// PATH for programs of the system.

/** PATH with the directories in which distributions install ip(8) and nft(8), which an ordinary user's may lack. */
export function programPath(): string {
  return `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`;
}
