// The time of a release's files. Two releases of one commit have the same time.

import { execa } from "execa";

/** $SOURCE_DATE_EPOCH, else the time of the commit, in seconds since 1970. Throws if neither is known. */
export async function sourceDate(root: string): Promise<number> {
  const given = process.env["SOURCE_DATE_EPOCH"] ?? "";
  const text = given !== "" ? given : (await execa("git", ["log", "-1", "--format=%ct"], { cwd: root })).stdout;
  if (!/^\d+$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH is ${text}: it must be a number of seconds`);
  return Number(text);
}
