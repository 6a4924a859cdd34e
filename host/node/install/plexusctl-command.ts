// The command plexusctl of an installation, and of an image.

/** A shell script: finds the installed Node although users may start the command through a link. */
export const plexusctlCommand = `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../plexusctl.cjs" "$@"
`;

/** The same in an image without a shell: the kernel starts Node. `home` is an absolute path. */
export function shelllessCommand(home: string): string {
  return `#!${home}/bin/node --disable-warning=ExperimentalWarning
require(require("node:path").join(__dirname, "../plexusctl.cjs"));
`;
}
