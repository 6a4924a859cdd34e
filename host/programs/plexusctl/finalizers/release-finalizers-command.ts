// plexusctl finalizers release: lists the objects with finalizers of plexus-controller, and removes the finalizers.

import { ok, type Result } from "../../../../src/fault/result.ts";
import { type CommandLineMistake, valueOf } from "../../../../src/command-line/read-command-line.ts";
import type { ApiObjects } from "../../../cluster/kube/api-objects.ts";
import { features } from "../../../../features/list.ts";
import type { FinalizerKind } from "../../../node/finalizers/finalizer-kinds.ts";
import { type HeldObject, heldObjects } from "../../../node/finalizers/held-objects.ts";
import { type ControllerLease, releaseFinalizers, runningController } from "../../../node/finalizers/release-finalizers.ts";
import { withCredentials } from "../../../cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../node/command-line/command.ts";
import { printed } from "../../../node/command-line/printed.ts";
import { table, wrap } from "../../../node/command-line/table.ts";
import { systemClock } from "../../../system/clock.ts";

/** A namespace and the name of an object in it. */
const leaseForm = /^([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/;

/** The kinds of all features. */
const finalizerKinds = async (): Promise<readonly FinalizerKind[]> =>
  (await Promise.all(features.map(({ finalizers }) => finalizers?.() ?? []))).flat();

interface Release {
  readonly held: readonly HeldObject[];
  /** The identity of a running controller. While one runs, the command writes nothing: the controller would add the finalizers again. */
  readonly controller: string | undefined;
  readonly problems: readonly string[];
}

/** Runs `plexusctl finalizers release`. */
export async function releaseFinalizersCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const text = valueOf(line, "lease") ?? "kube-system/plexus-controller";
  const [, namespace, name] = leaseForm.exec(text) ?? [];
  if (namespace === undefined || name === undefined) return { wrong: `--lease ${text}: must be NAMESPACE/NAME` };
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const isWrite = line.flags.has("write");
  const done = await withCredentials(credentials, (objects) => release(objects, isWrite ? { namespace, name } : undefined));
  if (!done.ok) return failure(done.fault.msg);
  const { held, controller, problems } = done.value;
  const rows = held.map(rowOf);
  const isBad = controller !== undefined || problems.length > 0;
  const state = isBad
    ? problems
    : isWrite
      ? "the objects have no finalizer of Plexus any more"
      : "nothing is written: add --write";
  const value = { objects: rows, problems };
  const view = (width: number): string => {
    const shown =
      held.length === 0
        ? []
        : [
            ...table(
              columns,
              rows.map((row) => Object.values(row)),
              width,
            ),
            "",
          ];
    const told = held.length === 0 ? "no object has a finalizer of Plexus" : state;
    const lines = typeof told === "string" ? wrap(told, width) : told.flatMap((each) => wrap(`- ${each}`, width));
    return `${[...shown, ...lines].join("\n").trimEnd()}\n`;
  };
  const names = (): readonly string[] =>
    rows.map((row) => `${row.kind} ${row.namespace === "" ? "" : `${row.namespace}/`}${row.name}`);
  return {
    stdout: await printed({ value, text: view, names }, line),
    ...(controller === undefined
      ? {}
      : {
          stderr: `plexus-controller ${controller} runs and removes finalizers itself: nothing is written. Remove the controller first`,
        }),
    status: isBad ? 1 : 0,
  };
}

/** Lists; with a Lease, also takes the finalizers away. */
async function release(objects: ApiObjects, lease: ControllerLease | undefined): Promise<Result<Release>> {
  const before = await heldObjects(objects, await finalizerKinds());
  if (!before.ok) return before;
  if (lease === undefined || before.value.length === 0) return ok({ held: before.value, controller: undefined, problems: [] });
  const controller = await runningController(objects, lease, systemClock);
  if (!controller.ok) return controller;
  if (controller.value !== undefined) return ok({ held: before.value, controller: controller.value, problems: [] });
  // A controller may have added finalizers until its Lease ended.
  const held = await heldObjects(objects, await finalizerKinds());
  if (!held.ok) return held;
  return ok({ held: held.value, controller: undefined, problems: await releaseFinalizers(objects, held.value) });
}

const columns = [{ title: "KIND" }, { title: "NAMESPACE" }, { title: "NAME" }, { title: "STATE" }, { title: "PORT" }];

function rowOf({
  kind,
  namespace,
  name,
  isDeleted,
  outside,
}: HeldObject): Readonly<Record<"kind" | "namespace" | "name" | "state" | "port", string>> {
  return { kind: kind.kind, namespace, name, state: isDeleted ? "in deletion" : "", port: outside };
}
