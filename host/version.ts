// Which version of Plexus this is.

import packageJson from "../package.json" with { type: "json" };

export const { version } = packageJson;
