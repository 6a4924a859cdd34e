// The end of a command whose output cannot be written.

/** Ends the process when stdout takes no more: without a failure after `| head` (EPIPE), with status 1 after any other error, because output is lost. */
export function endOnStdoutError(): void {
  process.stdout.on("error", (error) => {
    if ("code" in error && error.code === "EPIPE") process.exit();
    process.stderr.write(`plexus-delegate: the output could not be written: ${error.message}\n`);
    process.exit(1);
  });
}
