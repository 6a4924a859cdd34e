// The names that the kernel accepts for links.

/** Whether the kernel accepts the text as a link's own name: 1 to 15 bytes without space, `/` and `:`. */
export function isLinkName(text: string): boolean {
  return /^[!-.0-9;-~]{1,15}$/u.test(text) && text !== "." && text !== "..";
}
