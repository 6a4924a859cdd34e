import { expect, test } from "vitest";
import { delegateRows } from "../../host/programs/plexusctl/commands/delegate-commands.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { sandboxCommands } from "../../delegates/sdk/program/sandbox-commands.ts";

test("plexusctl delegate has the kit's commands, and knows which need only the sandbox", () => {
  const kit = commands.map(({ name, usage }) => [name, usage]);
  expect(delegateRows.map(({ name, synopsis }) => [name, synopsis]).toSorted()).toEqual(kit.toSorted());
  const sandbox = delegateRows.filter(({ needsKit }) => !needsKit).map(({ name }) => name);
  expect(sandbox.toSorted()).toEqual(sandboxCommands.map(({ name }) => name).toSorted());
});
