// Keeps a dump within its size: the most important documents first, and of each log its end.

import type { ArchivedFile } from "./tar-archive.ts";

/** A part that was left out of a dump, with the reason. */
export interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/** The files that fit, and the rest. */
export interface BoundedFiles {
  readonly files: readonly ArchivedFile[];
  readonly leftOut: readonly LeftOut[];
}

/** Takes files in their order until `maxBytes` are full. The first file that does not fit whole keeps its end, where a log has its newest lines. */
export function boundFiles(files: readonly ArchivedFile[], maxBytes: number): BoundedFiles {
  const taken: ArchivedFile[] = [];
  const leftOut: LeftOut[] = [];
  let left = maxBytes;
  for (const file of files) {
    const size = Buffer.byteLength(file.text);
    if (size <= left) {
      taken.push(file);
      left -= size;
    } else if (left > 0) {
      taken.push({ name: file.name, text: endOf(file.text, left) });
      leftOut.push({ name: file.name, why: `the first ${size - left} of ${size} bytes: the dump is full (${maxBytes} bytes)` });
      left = 0;
    } else {
      leftOut.push({ name: file.name, why: `all ${size} bytes: the dump is full (${maxBytes} bytes)` });
    }
  }
  return { files: taken, leftOut };
}

/** The last whole lines of a text within `maxBytes`. */
export function endOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const end = bytes.subarray(bytes.length - maxBytes).toString("utf8");
  const line = end.indexOf("\n");
  return line === -1 ? end : end.slice(line + 1);
}
