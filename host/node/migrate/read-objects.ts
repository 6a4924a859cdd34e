// Reads Pods and NetworkAttachmentDefinitions that `kubectl get -o json` or `-o yaml` printed, from a file, a directory, or stdin.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type ManifestObject, readObjects } from "../../cluster/manifests/manifest-objects.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { stdinArgument } from "./read-sources.ts";

const manifestName = /\.(?:yaml|yml|json)$/;

/** All objects at the path; `-` is stdin. Faults: STORE_FAILED; CLUSTER_UNREADABLE for an unreadable document. */
export async function readClusterObjects(path: string): Promise<Result<readonly ManifestObject[]>> {
  const objects: ManifestObject[] = [];
  try {
    for (const file of filesAt(path)) {
      const text = readFileSync(file === stdinArgument ? 0 : file, "utf8");
      const name = file === stdinArgument ? `stdin.${text.trimStart().startsWith("{") ? "json" : "yaml"}` : file;
      const { objects: found, problems } = await readObjects(name, text);
      const [problem] = problems;
      if (problem !== undefined) return failed(fault("CLUSTER_UNREADABLE", problem));
      objects.push(...found);
    }
  } catch (error) {
    return failed(storeFault("reading", path, error));
  }
  return ok(objects);
}

function filesAt(path: string): readonly string[] {
  if (path === stdinArgument || !statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => manifestName.test(name) && !name.startsWith("."))
    .toSorted()
    .map((name) => join(path, name));
}
