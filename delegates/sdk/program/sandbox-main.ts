// The entry of the commands that need only the sandbox, as a file beside plexusctl, which runs it for `plexusctl delegate`.

import { runInTerminal } from "./run-in-terminal.ts";
import { sandboxCommands } from "./sandbox-commands.ts";

// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
void runInTerminal(sandboxCommands);
