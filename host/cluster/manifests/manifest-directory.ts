// A directory of manifests that replaces the Kubernetes API: reads Pods and NetworkAttachmentDefinitions, writes status files.

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { labelProblem, subdomainProblem } from "../../../src/npwg/object-names.ts";
import { checkPodUid, type Pod, readPod } from "../../../src/npwg/pod.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import type { Cluster } from "../cluster.ts";
import { listManifests, openManifest } from "./manifest-files.ts";
import { type ManifestContent, type ManifestKind, type ManifestObject, readObjects } from "./manifest-objects.ts";
import type { Clock } from "../../system/clock.ts";

interface KnownFile {
  readonly identity: string;
  /** False: the file may have changed later with the same identity. */
  readonly settled: boolean;
  readonly content: ManifestContent;
}

/** The content of the directory at one time. */
interface Snapshot {
  readonly objects: readonly ManifestObject[];
  /** Files and documents that could not be read. */
  readonly problems: readonly string[];
}

/**
 * The cluster in `directory`, read at each call; only changed files are read again. An object in two documents is refused, with
 * both files named. An unreadable file hides only its own objects; a lookup without a result reports such files. Statuses are
 * written to `<directory>/status/<namespace>.<pod>.json`.
 */
export function manifestDirectory(directory: string, clock: Clock): Cluster {
  let known: ReadonlyMap<string, KnownFile> = new Map();

  const look = async (): Promise<Result<Snapshot>> => {
    const entries = listManifests(directory);
    if (!entries.ok) return entries;
    const current = new Map<string, KnownFile>();
    const problems: string[] = [];
    for (const entry of entries.value) {
      const file = openManifest(directory, entry, clock);
      if (!file.ok) {
        problems.push(file.fault.msg);
        continue;
      }
      const { path, identity, settled } = file.value;
      const earlier = known.get(path);
      const text = earlier?.settled === true && earlier.identity === identity ? undefined : file.value.read();
      file.value.close();
      if (text === undefined && earlier !== undefined) current.set(path, earlier);
      else if (text?.ok === true) current.set(path, { identity, settled, content: await readObjects(path, text.value) });
      else if (text?.ok === false) problems.push(text.fault.msg);
    }
    known = current;
    const contents = [...current.values()].map((each) => each.content);
    return ok({
      objects: contents.flatMap((each) => each.objects),
      problems: [...problems, ...contents.flatMap((each) => each.problems)],
    });
  };

  const find = async (kind: ManifestKind, namespace: string, name: string): Promise<Result<ManifestObject>> => {
    const snapshot = await look();
    if (!snapshot.ok) return snapshot;
    const found = snapshot.value.objects.filter(
      (each) => each.kind === kind && each.namespace === namespace && each.name === name,
    );
    const [first, second] = found;
    if (first === undefined) return failed(notFound(kind, `${namespace}/${name}`, directory, snapshot.value.problems));
    if (second === undefined) return ok(first);
    const where = first.path === second.path ? `twice in ${first.path}` : `in ${first.path} and in ${second.path}`;
    return failed(fault("CLUSTER_UNREADABLE", `${kind} ${namespace}/${name} is ${where}; remove one of them`));
  };

  return {
    pod: async (namespace, name, expected) => {
      const found = await find("Pod", namespace, name);
      if (!found.ok) return found;
      const pod = readPod(found.value.object);
      return pod.ok ? checkPodUid(pod.value, expected?.uid) : failed(inFile(pod.fault, found.value.path));
    },
    networkAttachmentDefinition: async (namespace, name) => {
      const found = await find("NetworkAttachmentDefinition", namespace, name);
      if (!found.ok) return found;
      const definition = readNetworkAttachmentDefinition(found.value.object);
      return definition.ok ? definition : failed(inFile(definition.fault, found.value.path));
    },
    publishStatus: async (pod, annotation) => writeStatus(join(directory, "status"), pod, annotation),
    // A directory has no readers of events.
    tell: () => undefined,
    end: async () => undefined,
  };
}

/** Writes a pod's status by rename, so that readers see the old text or the new one. */
function writeStatus(directory: string, pod: Pod, annotation: string): Result<void> {
  const problem = labelProblem(pod.namespace) ?? subdomainProblem(pod.name);
  if (problem !== undefined) return failed(fault("INTERNAL", `publishing a status: a name of the pod ${problem}`));
  // A namespace contains no ".", so the file name is unambiguous.
  const name = `${pod.namespace}.${pod.name}.json`;
  const path = join(directory, name);
  const temporary = join(directory, `.${name}.${process.pid}`);
  try {
    makeDirectory(directory, 0o755);
    rmSync(temporary, { force: true });
    writeFileSync(temporary, `${annotation}\n`, { flag: "wx", mode: 0o644 });
    renameSync(temporary, path);
    return ok(undefined);
  } catch (error) {
    removeQuietly(temporary);
    return failed(storeFault("publishing the status", path, error));
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The write's own error is reported.
  }
}

function notFound(kind: ManifestKind, name: string, directory: string, problems: readonly string[]): Fault {
  const details = problems.length === 0 ? {} : { details: `Not read:\n${problems.slice(0, 20).join("\n")}` };
  const missing = kind === "Pod" ? "POD_NOT_FOUND" : "NETWORK_NOT_FOUND";
  return fault(missing, `${kind} ${name} is in no manifest of ${directory}`, details);
}

function inFile(cause: Fault, path: string): Fault {
  return { ...cause, msg: `${path}: ${cause.msg}` };
}
