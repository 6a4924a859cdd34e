// The end of a command whose output cannot be written.

import { errnoOf } from "../../store/files/errno.ts";

/**
 * Ends the process when stdout takes no more. A reader may close a pipe early (`| head`), so EPIPE is no error. After any other error, such as that of a
 * full disk, output is lost: the status is 1, whatever the command answers.
 */
export function endOnStdoutError(program: string): void {
  process.stdout.on("error", (error) => {
    if (errnoOf(error) === "EPIPE") process.exit();
    process.stderr.write(`${program}: the output could not be written: ${error.message}\n`);
    process.exit(1);
  });
}
