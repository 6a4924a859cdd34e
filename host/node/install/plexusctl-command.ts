// The command plexusctl of an installation.

/** A shell script: finds the installed Node although users may start the command through a link. */
export const plexusctlCommand = `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../plexusctl.cjs" "$@"
`;
