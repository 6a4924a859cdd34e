// Foreign text, such as a plugin's error, for the log and for plexusctl.

import { withoutSecrets } from "../fault/without-secrets.ts";
import { inertLine } from "./inert-text.ts";

/** Maximum length of a message, in UTF-16 units. */
const maxMessage = 4096;

/** The text as one line, without control characters and secrets. */
export function harmlessMessage(text: string): string {
  return withoutSecrets(inertLine(text, maxMessage));
}
