// Texts of providers, which reach conditions, Events, logs and the runtime's errors.

/**
 * The text without characters that act on a terminal: each is replaced by a space. `maxLength`: UTF-16 units. The result is well-formed, because the
 * API server replaces the half of a surrogate pair, and a comparison with the stored text must hold.
 */
export function foreignText(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ");
}
