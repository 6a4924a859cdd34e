// The vectors of a delegate: `<name>.in.json`, what a runtime asks, and `<name>.out.json`, what it gets. They are tests
// and documentation at once; README.md beside this directory says what stands in them.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { memberText, parseDocument } from "../../../src/json/document.ts";

const leaseState = z.strictObject({
  directory: z.string().optional(),
  held: z.record(z.string(), z.string()).default({}),
  last: z.record(z.string(), z.string()).default({}),
});

const question = z.strictObject({
  /** What the vector shows, one sentence. */
  about: z.string().min(1),
  verb: z.enum(["ADD", "DEL", "CHECK", "GC", "STATUS"]),
  env: z.record(z.string().regex(/^CNI_/), z.string()).default({}),
  stdin: z.record(z.string(), z.unknown()),
  leases: leaseState.optional(),
  /** What the `resolver` capability reads, by path. */
  resolver: z
    .record(
      z.string(),
      z.strictObject({
        nameservers: z.array(z.string()).default([]),
        domain: z.string().optional(),
        search: z.array(z.string()).default([]),
        options: z.array(z.string()).default([]),
      }),
    )
    .default({}),
});

const answer = z.strictObject({
  /** ADD's success, as CNI prints it in stdin's cniVersion. */
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.strictObject({ code: z.number(), msg: z.string(), details: z.string().optional() }).optional(),
  /** What is held after the call; where the question has leases. */
  leases: leaseState.optional(),
  /** Lines of the log, `level: text`; not compared where absent. */
  log: z.array(z.string()).optional(),
});

export type VectorAnswer = z.infer<typeof answer>;

export interface Vector extends z.infer<typeof question> {
  /** The file's name without `.in.json`. */
  readonly name: string;
  /** `stdin` as the file has it, byte for byte. */
  readonly stdinText: string;
  /** Null where there is no `.out.json` yet. */
  readonly answer: VectorAnswer | null;
}

/** Reads the vectors of a directory, in order of their names. Throws an Error that names the file. */
export async function readVectors(directory: string): Promise<Vector[]> {
  const names = (await readdir(directory))
    .filter((file) => file.endsWith(".in.json"))
    .map((file) => file.slice(0, -".in.json".length));
  return Promise.all(
    names.toSorted().map(async (name) => {
      const file = join(directory, `${name}.in.json`);
      const text = await readFile(file, "utf8");
      const out = await readFile(join(directory, `${name}.out.json`), "utf8").catch(() => null);
      const document = parseDocument(text, { what: file });
      if (!document.ok) throw new Error(document.fault.msg);
      const parsed = question.safeParse(document.value.parsed);
      if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
      return {
        name,
        ...parsed.data,
        stdinText: memberText(document.value, "stdin") ?? "{}",
        answer: out === null ? null : answer.parse(JSON.parse(out)),
      };
    }),
  );
}
