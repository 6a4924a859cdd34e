// Every parser of data that Plexus has not made itself.

import { parsersOfFiles } from "./parsers-of-files.ts";
import { parsersOfPrograms } from "./parsers-of-programs.ts";
import { parsersOfUsers } from "./parsers-of-users.ts";

/** All parsers. */
export const parsers = [...parsersOfUsers, ...parsersOfPrograms, ...parsersOfFiles];
