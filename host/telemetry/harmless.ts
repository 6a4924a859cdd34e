// Text that anybody may have written, as it stands in the log and in what plexusctl shows.

import { withoutSecrets } from "../../src/fault/without-secrets.ts";
import { inertLine } from "../sandbox/inert-text.ts";

/** UTF-16 units of a message. */
const longestMessage = 4096;

/** One harmless line without secrets. */
export function harmlessMessage(text: string): string {
  return withoutSecrets(inertLine(text, longestMessage));
}
