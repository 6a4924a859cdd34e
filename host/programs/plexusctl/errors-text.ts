// Meaning and remedy of a fault kind, or of all fault kinds with a CNI error code.

import { catalogue, type CatalogueEntry } from "../../../src/fault/catalogue.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { printed } from "../../node/command-line/printed.ts";
import { table, wrap } from "../../node/command-line/table.ts";

/** Runs `plexusctl errors`. */
export async function errorsCommand(line: Invocation): Promise<CommandResult> {
  const [wanted] = line.args;
  const found = Object.entries(catalogue)
    .filter(([kind, { cni }]) => wanted === undefined || kind === wanted.toUpperCase() || String(cni) === wanted)
    .map(([kind, entry]) => ({ kind, ...entry }));
  if (found.length === 0)
    return { stdout: "", stderr: `no error has the kind or code ${wanted}; plexusctl errors lists all of them`, status: 2 };
  const text = (width: number): string => errorsText(wanted, width) ?? "";
  return { stdout: await printed({ value: found, text, names: () => found.map(({ kind }) => kind) }, line), status: 0 };
}

/** A table of all kinds; with `wanted` (a kind or a CNI code), the details of the matching kinds. Undefined if none matches. */
function errorsText(wanted: string | undefined, width: number): string | undefined {
  const all: readonly (readonly [string, CatalogueEntry])[] = Object.entries(catalogue);
  const found = all
    .filter(([kind, { cni }]) => wanted === undefined || kind === wanted.toUpperCase() || String(cni) === wanted)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  if (found.length === 0) return undefined;
  if (wanted === undefined) {
    const columns = [{ title: "KIND" }, { title: "CODE", align: "right" } as const, { title: "MEANING" }];
    return `${table(
      columns,
      found.map(([kind, { cni, meaning }]) => [kind, String(cni), meaning]),
      width,
    ).join("\n")}\n`;
  }
  return found
    .map(([kind, { cni, actor, meaning, remedy }]) =>
      [`${kind}, CNI code ${cni}`, ...wrap(meaning, 78), ...wrap(`To do (${actor}): ${remedy}`, 78)].join("\n  "),
    )
    .map((text) => `${text}\n`)
    .join("\n");
}
