// The settings, a JSON file. Credentials come from the SDK's own chain: environment, shared file, web identity, instance metadata.

import { readFile } from "node:fs/promises";
import { z } from "zod";

const file = z.string().startsWith("/");

const settings = z.strictObject({
  /** Address and port of the server. */
  listen: z.strictObject({ host: z.string().min(1).default("127.0.0.1"), port: z.int().min(0).max(65_535) }),
  /** A file with the bearer token of plexus-controller, read for each request. */
  tokenFile: file,
  /** Certificate and key in PEM. Without them the server speaks HTTP. */
  tls: z.strictObject({ certificateFile: file, keyFile: file }).optional(),
  region: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /** Another endpoint than the region's. */
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  /** The attribute of an instance that has the node's name: a filter of DescribeInstances. */
  nodeName: z
    .string()
    .regex(/^(private-dns-name|instance-id|tag:.{1,128})$/)
    .default("private-dns-name"),
  /** Device indexes of the interfaces that definitions may name; the first is the usual one. Index 0 is the node's own interface. */
  deviceIndexes: z.array(z.int().min(0).max(31)).min(1).default([1]),
  /** Subnets that definitions may name. Without the list each subnet of a permitted interface. */
  subnets: z
    .array(z.string().regex(/^subnet-[0-9a-f]{1,17}$/))
    .min(1)
    .optional(),
});

/** The settings. */
export type Settings = z.infer<typeof settings>;

/** Reads the settings. Rejects with a message that names the file, the key and the mistake. */
export async function readSettings(path: string): Promise<Settings> {
  const read = settings.safeParse(await readJson(path));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is no JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
