// Writes a tar archive (POSIX ustar) of small texts.

/** A file of the archive. */
export interface ArchivedFile {
  /** Path in the archive, at most 100 bytes. */
  readonly name: string;
  readonly text: string;
}

const blockBytes = 512;

/** The archive's bytes. `seconds`: the time of all files, since 1970. Throws a RangeError for a longer name. */
export function tarArchive(files: readonly ArchivedFile[], seconds: number): Buffer {
  const blocks = files.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [header(name, content.length, seconds), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function header(name: string, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  if (Buffer.byteLength(name) > 100) throw new RangeError(`${name} is longer than 100 bytes`);
  block.write(name, 0);
  block.write(octal(0o600, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(Math.floor(seconds), 12), 136);
  block.write("0", 156);
  block.write("ustar", 257);
  block.write("00", 263);
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A number as the header has it: octal digits and a zero byte. */
function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, "0")}\0`;
}
