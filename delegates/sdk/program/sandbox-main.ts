// The entry of the commands that need only the sandbox, as a file beside plexusctl, which runs it for `plexusctl delegate`.

import { endOnStdoutError } from "./end-on-stdout-error.ts";
import { runInTerminal } from "./run-in-terminal.ts";
import { sandboxCommands } from "./sandbox-commands.ts";

endOnStdoutError();
void runInTerminal(sandboxCommands);
